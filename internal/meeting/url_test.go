// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"convene.dev/convene/internal/fault"
)

func TestValidateURL(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("é", 2048-len("https://example.com/"))
	for _, tc := range []struct {
		reason, value string
		// says is part of the message; empty where the URL is good.
		says string
	}{
		{"nothing", "", ""},
		{"a page", "https://example.com/bye?from=x#top", ""},
		{"http", "http://example.com", ""},
		{"a scheme is without case", "HTTPS://Example.COM/", ""},
		{"a port", "https://example.com:8443/", ""},
		{"IPv6", "http://[::1]:8080/x", ""},
		{"a host of another script", "https://bücher.example/", ""},
		{"the greatest length, in characters and not in bytes", long, ""},
		{"too long", long + "x", "at most 2048 characters"},
		{"a path alone would be on our host", "/bye", "absolute http or https URL"},
		{"another host without a scheme", "//example.com/bye", "absolute http or https URL"},
		{"no scheme", "example.com/bye", "absolute http or https URL"},
		{"a script", "javascript:alert(1)", "absolute http or https URL"},
		{"a script with a host", "javascript://example.com/%0aalert(1)", "absolute http or https URL"},
		{"data", "data:text/html,x", "absolute http or https URL"},
		{"another protocol", "ftp://example.com/", "absolute http or https URL"},
		{"no host", "https:///bye", "absolute http or https URL"},
		{"a port without a host", "https://:8443/", "absolute http or https URL"},
		{"one slash", "https:/example.com", "absolute http or https URL"},
		{"browsers read a backslash as a slash", `https:\\example.com`, "absolute http or https URL"},
		{"a backslash in the host", `https://example.com\@other.example/`, "absolute http or https URL"},
		{"a line break", "https://example.com/\nx", "absolute http or https URL"},
		{"space before it", " https://example.com/", "absolute http or https URL"},
	} {
		err := ValidateURL("avatar", tc.value)
		switch {
		case tc.says == "" && err != nil:
			t.Errorf("%s: %q is refused: %v", tc.reason, tc.value, err)
		case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
			t.Errorf("%s: %q: %v does not say %q", tc.reason, tc.value, err, tc.says)
		case err != nil && (!fault.Is(err, fault.KindInvalid) || fault.As(err).Field != "avatar"):
			t.Errorf("%s: %#v is not about the field avatar", tc.reason, err)
		}
	}
}

func TestValidateRedirect(t *testing.T) {
	some := []string{"example.com", "*.example.org", "Port.example:8443", "[::1]", "*.port.example:444", "xn--bcher-kva.example", "*.XN--fsqu00a:81"}
	for _, tc := range []struct {
		reason  string
		allowed []string
		value   string
		good    bool
	}{
		{"no hosts are named: any", nil, "https://anywhere.example/x", true},
		{"no hosts are named: a URL all the same", nil, "/x", false},
		{"the home page", some, "", true},
		{"a host that is named", some, "https://example.com/x", true},
		{"case does not count", some, "https://EXAMPLE.com/x", true},
		{"on any port", some, "https://example.com:444/x", true},
		{"a host below one that is named", some, "https://a.example.com/x", false},
		{"a host that begins like one", some, "https://example.com.evil.test/x", false},
		{"a host that ends like one", some, "https://badexample.com/x", false},
		{"a user that looks like one", some, "https://example.com@evil.test/", false},
		{"a query that looks like one", some, "https://evil.test?.example.org", false},
		{"a fragment that looks like one", some, "https://evil.test#.example.org", false},
		{"below a suffix", some, "https://a.example.org/x", true},
		{"far below a suffix", some, "https://a.b.example.org/x", true},
		{"the suffix itself", some, "https://example.org/x", false},
		{"an end of the suffix", some, "https://badexample.org/x", false},
		{"a host with its port", some, "https://port.example:8443/", true},
		{"on another port", some, "https://port.example:8444/", false},
		{"a suffix with its port", some, "https://a.port.example:444/", true},
		{"a suffix on another port", some, "https://a.port.example/", false},
		{"IPv6", some, "http://[::1]/", true},
		{"IPv6 on any port", some, "http://[::1]:8080/", true},
		{"another address", some, "http://[::2]/", false},
		{"no URL", some, "javascript:alert(1)", false},
		{"a host that browsers write in Punycode", some, "https://bücher.example/x", true},
		{"in capitals, and decomposed", some, "https://BU\u0308CHER.Example:8443/x", true},
		{"in Punycode", some, "https://xn--bcher-kva.example/x", true},
		{"a host that looks like one", some, "https://bucher.example/x", false},
		{"below a suffix in Punycode, on its port", some, "https://a.例子:81/", true},
		{"with the full stop of its script", some, "https://a。例子:81/", true},
		{"on another port than the suffix", some, "https://a.例子/", false},
		{"fullwidth letters are letters", some, "https://ｅｘａｍｐｌｅ.com/", true},
		{"a fullwidth slash that would end it elsewhere", some, "https://evil.test／.example.org/", false},
		{"a host that no browser asks for", some, "https://xn--ü.example.org/", false},
		{"a fragment right behind the host", some, "https://example.com#/x", true},
		{"a fragment right behind another host", some, "https://evil.test#@example.com", false},
		{"a fragment right behind a port", some, "https://port.example:8443#x", true},
	} {
		err := Settings{RedirectHosts: tc.allowed}.ValidateRedirect(tc.value)
		if (err == nil) != tc.good {
			t.Errorf("%s: %q: %v", tc.reason, tc.value, err)
		}
		if err != nil && (!fault.Is(err, fault.KindInvalid) || fault.As(err).Field != "redirect") {
			t.Errorf("%s: %#v is not about the field redirect", tc.reason, err)
		}
	}
}

// asBrowsersAsk is the host that browsers look for.
func asBrowsersAsk(u *url.URL) string {
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		return strings.ToLower(u.Hostname())
	}
	return host
}

func FuzzValidateRedirect(f *testing.F) {
	for _, seed := range []string{"https://a.example.org/", "https://evil.test#.example.org", `https:\\x`, "https://a@b.example.org", "https://[::1]%2e.example.org", "https://a。example.org#/x"} {
		f.Add(seed)
	}
	s := Settings{RedirectHosts: []string{"*.example.org"}}
	f.Fuzz(func(t *testing.T, value string) {
		if s.ValidateRedirect(value) != nil || value == "" {
			return
		}
		u, err := url.Parse(value)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || !strings.HasSuffix(asBrowsersAsk(u), ".example.org") {
			t.Errorf("%q leads to %v, %v", value, u, err)
		}
		if strings.ContainsAny(value, "\r\n\t\x00") {
			t.Errorf("%q holds control characters", value)
		}
	})
}
