// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/testkit"
)

// rule is an object with one value in it, and what the API server says.
type rule struct {
	reason string
	path   string
	value  any
	// says is part of the refusal of that path, or of the one that it begins with, as in "at spec: text". It is empty
	// where the value is taken.
	says string
}

// refused are all refusals of the parts of TestRules.
type refused struct {
	sync.Mutex
	causes []string
}

func (r *refused) add(err error) {
	r.Lock()
	defer r.Unlock()
	r.causes = append(r.causes, causes(err)...)
}

// TestRules tries every CEL rule and pattern of both schemas on a real API server, both ways.
func TestRules(t *testing.T) {
	c := testkit.ControlPlane(t)
	r := &refused{}
	parts := map[string]func(*testing.T, *testkit.Cluster, *refused){
		"ConferenceConfig": configRules, "ConferenceConfigOfVariantB": configRulesOfVariantB, "ConferenceConfigUpdated": configUpdates,
		"MediaServer": mediaRules, "Meeting": meetingRules, "MeetingUpdated": meetingUpdates, "MeetingStatus": meetingLatches,
	}
	ran := 0
	for name, part := range parts {
		t.Run(name, func(t *testing.T) {
			ran++
			part(t, c, r)
		})
	}
	if ran < len(parts) {
		return // one part alone was asked for
	}
	for _, plural := range []string{"conferenceconfigs", "mediaservers", "meetings"} {
		visit("", schemaOf(t, plural), func(path string, s schema) {
			if path == "" {
				path = "<nil>"
			}
			if strings.Contains(path, "conditions[]") {
				return // apimachinery's
			}
			for _, v := range s.XValidations {
				r.mustHave(t, path, v.Message)
			}
			if s.Pattern != "" {
				r.mustHave(t, path, "should match")
			}
		})
	}
}

func (r *refused) mustHave(t *testing.T, path, message string) {
	t.Helper()
	if strings.HasPrefix(path, "status.duration") {
		return // the type of spec.duration, which only controllers write here
	}
	for _, cause := range r.causes {
		if strings.HasPrefix(cause, path+": ") && strings.Contains(cause, message) {
			return
		}
	}
	t.Errorf("no test breaks this rule of %s: %s", path, message)
}

// checkRules writes the object with each value.
func checkRules(t *testing.T, r *refused, base *object, write func(*object) error, rules []rule) {
	t.Helper()
	if err := write(base); err != nil {
		t.Fatalf("the object that the rules are tried on: %v", err)
	}
	var all errgroup.Group
	all.SetLimit(4)
	for _, rule := range rules {
		all.Go(func() error {
			o, ok := set(base, rule.path, rule.value)
			if !ok {
				t.Errorf("%s: there is no place %s", rule.reason, rule.path)
				return nil
			}
			err := write(o)
			r.add(err)
			shown, _ := json.Marshal(rule.value)
			field, says := rule.path, rule.says
			if at, rest, ok := strings.Cut(says, ": "); ok && strings.HasPrefix(at, "at ") {
				field, says = strings.TrimPrefix(at, "at "), rest
			}
			switch {
			case rule.says == "" && err != nil:
				t.Errorf("%s: %s = %.80s is refused: %v", rule.reason, rule.path, shown, err)
			case rule.says != "" && !refusedAt(err, field, says):
				t.Errorf("%s: %s = %.80s is not refused with %q: %v %q", rule.reason, rule.path, shown, rule.says, err, causes(err))
			}
			return nil
		})
	}
	_ = all.Wait()
}

// creates is a write that makes a new object.
func creates(t *testing.T, c *testkit.Cluster) func(*object) error {
	return func(o *object) error { return create(t, c, o) }
}

// list makes several rules of one kind.
func list(reason, path, says string, values ...any) (rules []rule) {
	for _, value := range values {
		rules = append(rules, rule{reason, path, value, says})
	}
	return rules
}

var (
	goodURLs = []any{"https://example.com", "http://example.com/bye?x=1&y=%20#z", "HTTPS://EXAMPLE.com/", "https://example.com:8443/",
		"http://[::1]:8080/", "https://bücher.example/ä", "https://user@example.com/", "https://example.com#/bye", "https://example.com:8443#", "http://[::1]#x",
		"https://example.com/#a/b?c#d", "https://example.com?x#/y", "https://example.com/a b#c d", "https://example.com/#%zz", "https://例子.example#/议",
		"https://example.com/" + strings.Repeat("é", 2028)}
	badURLs = []any{"/bye", "//example.com/", "example.com", "javascript:alert(1)", "javascript://example.com/%0aalert(1)", "data:text/html,x",
		"ftp://example.com/", "https:///bye", "https://:8443/", "https:/example.com", `https:\\example.com`, "https://exa mple.com/",
		"https://example.com/\n", " https://example.com/", "https://", "mailto:a@example.com",
		"https://#/x", "#https://example.com", "https:#//example.com", "https://:80#x", "https://example.com/#a\nb", "https://example.com#\x7f", "https://exa#\x00"}
	goodLengths = []any{"1s", "1h30m", "90m", "1h29m60s", "99h59m59s", "5999m59s", "00001s", "unlimited"}
	badLengths  = []any{"", "90", "1.5h", "-1h", "+1h", "1d", "1500ms", "1H", "Unlimited", "forever", " 1h", "1h ", "1h\n", "100000s", "1h1m1s1s", "h", "٣h"}
	// clockLengths are the form of the REST API, and what was meant to be it.
	clockLengths = []any{"01:30:00", "1:00:00", "01:00", "00:60:00", "-1:00:00", "00:00:00", ":"}
	zeroLengths  = []any{"0s", "0h0m0s", "00000h"}
	longLengths  = []any{"100h", "6000m", "99999h99999h99999h"}
	goodTimes    = []any{"1ms", "5m", "24h", "1h30m", "99999h99999h99999h99999h", "0h0m0s1ms", "00001s"}
	// Some of these are Go durations, and some are not; none may come to a controller that cannot read it.
	badTimes = []any{"5x", "5", "", "five minutes", "-5m", "+5m", "1.5h", "1d", "5m ", "5M", "100000h", "1µs", "1ns", "1h1h1h1h1h",
		"9223372036854775808ns", "1e3s", "∞", "PT5M"}
	zeroTimes = []any{"0s", "0ms", "0h0m0s0ms", "00000h"}
)

func urlRules(path string) []rule {
	return slices.Concat(list("a URL", path, "", goodURLs...), list("none", path, "", ""),
		list("no absolute http or https URL", path, "must be an absolute http or https URL", badURLs...))
}

func lengthRules(path string) []rule {
	return slices.Concat(list("a length", path, "", goodLengths...),
		list("no length", path, "duration must be hours, minutes and seconds, for example 1h30m or 45m, or unlimited", badLengths...),
		list("the form of the REST API", path, "HH:MM:SS is the form of the REST API; here write 1h30m for 01:30:00", clockLengths...),
		list("zero", path, "duration must not be zero; use unlimited", zeroLengths...),
		list("longer than the REST API can write", path, "duration must be at most 99h59m59s; use unlimited for no limit", longLengths...),
		list("over 18 characters", path, "Too long: may not be", "00000h00000m000001s"), list("a number", path, "must be of type string", 3600))
}

func timeRules(path string) []rule {
	return slices.Concat(list("a time", path, "", goodTimes...), list("no time", path, "should match", badTimes...),
		list("a number", path, "must be of type string", 5, 5.5), list("zero", path, "must be more than zero, for example 30m or 24h", zeroTimes...))
}

func hostRules(path string) []rule {
	at := "at " + path + "[]: must be a host, or *.suffix"
	one := func(hosts ...string) (values []any) {
		for _, h := range hosts {
			values = append(values, []any{h})
		}
		return values
	}
	return slices.Concat(
		list("a host", path, "", one("example.com", "EXAMPLE.com", "localhost", "a_b.example", "10.0.0.1", "xn--bcher-kva.example", "x", "1.example")...),
		list("with a port", path, "", one("example.com:8080", "localhost:1", "[::1]:8080", "10.0.0.1:65535")...),
		list("a wildcard", path, "", one("*.example.com", "*.example.com:8443", "*.local")...),
		list("IPv6", path, "", one("[::1]", "[2001:db8::1]", "[::ffff:10.0.0.1]")...),
		list("no host", path, at, one("*", "*.", "*example.com", "a.*.example.com", "example.com.", "-example.com", ".example.com", "::1",
			"https://example.com", "example.com/x", "exa mple.com", "example.com:", "example.com:http", "example.com:100000", "[::1", "\n")...),
		list("a host that browsers write in Punycode", path, "at "+path+"[]: must be a host, or *.suffix for all hosts below one, with or without a port; write letters beyond ASCII in Punycode, for example xn--",
			one("bücher.example", "*.bücher.example:80", "例子", "a.example。b")...))
}

// longOrigins are n origins of a length.
func longOrigins(n, length int) (all []any) {
	for i := range n {
		origin := fmt.Sprintf("https://%d.", i)
		all = append(all, origin+strings.Repeat("a", length-len(origin)))
	}
	return all
}

func originRules(path string, wildcard bool) []rule {
	at := "at " + path + "[]: must be an origin, for example https://app.example.com"
	stars := list("an origin below a suffix", path, "", []any{"https://*.example.com"})
	if !wildcard {
		stars = slices.Concat(list("any origin", path, "", []any{"*"}), list("no suffixes here", path, at, []any{"https://*.example.com"}))
	}
	return slices.Concat(stars,
		list("an origin", path, "", []any{"https://app.example.com"}, []any{"http://localhost:3000"}, []any{"https://a.example", "https://b.example"}),
		list("an app", path, "", []any{"capacitor://localhost"}, []any{"ionic://localhost"}, []any{"tauri://localhost"}, []any{"app://-"}, []any{"chrome-extension://abcdefghijklmnopabcdefghijklmnop"}),
		list("no origin", path, at, []any{"app.example.com"}, []any{"https://app.example.com/"}, []any{"https://app.example.com/x"}, []any{"https://"},
			[]any{"null"}, []any{"ftp://example.com"}, []any{"file://localhost"}, []any{"wss://app.example.com"}, []any{"://app.example.com"}, []any{"capacitor:localhost"}, []any{"capacitor://"}, []any{"https://a b"}, []any{"https://x'; script-src *"}, []any{"https://a,https://b"}, []any{"https://*"}, []any{"https://bücher.example"}))
}
