// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

var epoch = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// asking is a Tenant that asks for hosts; age makes the lesser the older.
func asking(name string, age int, hosts ...string) *Tenant {
	return &Tenant{
		NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}, UID: types.UID(name),
		Created: epoch.Add(time.Duration(age) * time.Second), Hosts: hosts,
	}
}

func nameOf(t *Tenant) string {
	if t == nil {
		return ""
	}
	return t.Name
}

func TestFindHost(t *testing.T) {
	h := newHosts([]*Tenant{
		asking("exact", 1, "meet.example.com"),
		asking("port", 2, "meet.example.com:8443", "only-port.example:8080"),
		asking("wildcard", 3, "*.example.com"),
		asking("deeper", 4, "*.team.example.com"),
		asking("wildcard-port", 5, "*.example.com:9000"),
		asking("ipv4", 6, "10.0.0.1"),
		asking("ipv6", 7, "[::1]", "[2001:db8::1]:8080"),
		asking("default-port", 8, "secure.example:443", "plain.example:80", "*.secure.example:443"),
	}, UnknownHosts{})
	for _, tc := range []struct{ reason, host, want string }{
		{"exact", "meet.example.com", "exact"},
		{"case does not count", "MEET.Example.COM", "exact"},
		{"a trailing dot is the same host", "meet.example.com.", "exact"},
		{"a trailing dot before a port", "meet.example.com.:8443", "port"},
		{"a port that no entry has", "meet.example.com:1234", "exact"},
		{"an entry with the port beats one without", "meet.example.com:8443", "port"},
		{"only an entry with another port", "only-port.example:8081", ""},
		{"only an entry with a port that is not the scheme's", "only-port.example", ""},
		{"below a wildcard", "a.example.com", "wildcard"},
		{"far below a wildcard", "a.b.c.example.com", "wildcard"},
		{"the longer wildcard wins", "a.team.example.com", "deeper"},
		{"the suffix of the longer one is below the shorter", "team.example.com", "wildcard"},
		{"a wildcard does not hold its own suffix", "example.com", ""},
		{"a host that ends like a suffix", "badexample.com", ""},
		{"a wildcard with the port beats one without", "a.example.com:9000", "wildcard-port"},
		{"exact beats a wildcard, even one with the port", "meet.example.com:9000", "exact"},
		{"the longer wildcard beats a shorter one with the port", "a.team.example.com:9000", "deeper"},
		{"a wildcard with case and trailing dot", "A.EXAMPLE.com.", "wildcard"},
		{"IPv4", "10.0.0.1:8080", "ipv4"},
		{"another IPv4", "10.0.0.2", ""},
		{"IPv6", "[::1]", "ipv6"},
		{"IPv6 on any port", "[::1]:9999", "ipv6"},
		{"IPv6 with its port", "[2001:DB8::1]:8080", "ipv6"},
		{"IPv6 on another port", "[2001:db8::1]:8081", ""},
		{"browsers leave out the port of https", "secure.example", "default-port"},
		{"but may send it", "secure.example:443", "default-port"},
		{"browsers leave out the port of http", "plain.example", "default-port"},
		{"also below a wildcard", "a.secure.example", "default-port"},
		{"nothing", "", ""},
		{"only a port", ":8080", ""},
		{"only dots", "...", ""},
		{"a star is no wildcard in a request", "*.example.com", "wildcard"},
		{"unknown", "other.example", ""},
	} {
		if got := nameOf(h.answers(tc.host)); got != tc.want {
			t.Errorf("%s: %q is answered by %q, want %q", tc.reason, tc.host, got, tc.want)
		}
	}
}

// TestALongHostCostsNothing: all suffixes of a host are looked up, and a request has room for thousands.
func TestALongHostCostsNothing(t *testing.T) {
	longest := strings.Repeat("a.", (maxHost-len("example.com"))/2) + "example.com"
	h := newHosts([]*Tenant{asking("wildcard", 1, "*.example.com"), asking("other", 2, "*.example.org")}, UnknownHosts{})
	if got := nameOf(h.answers(longest + ":8443")); got != "wildcard" {
		t.Errorf("the longest host is answered by %q", got)
	}
	long := strings.Repeat("a.", 8<<10) + "example.com"
	if got := nameOf(h.answers(long)); got != "" {
		t.Errorf("no host can be so long, and it is answered by %q", got)
	}
	if of := testing.AllocsPerRun(10, func() { h.answers(long) }); of > 10 {
		t.Errorf("it costs %.0f allocations", of)
	}
}

func TestFallback(t *testing.T) {
	a, b := asking("a", 1, "a.example"), asking("b", 2, "b.example")
	for _, tc := range []struct {
		reason    string
		tenants   []*Tenant
		byDefault string
		want      string
	}{
		{"no tenant", nil, "", ""},
		{"the only one", []*Tenant{a}, "", "a"},
		{"none of two", []*Tenant{a, b}, "", ""},
		{"the default of two", []*Tenant{a, b}, "b", "b"},
		{"the only one, where the default is not there", []*Tenant{a}, "b", "a"},
		{"none of two, where the default is not there", []*Tenant{a, b}, "c", ""},
	} {
		h := newHosts(tc.tenants, UnknownHosts{Default: types.NamespacedName{Namespace: "ns", Name: tc.byDefault}})
		if got := nameOf(h.answers("10.9.8.7:8080")); got != tc.want {
			t.Errorf("%s: %q answers, want %q", tc.reason, got, tc.want)
		}
		if len(tc.tenants) > 0 && nameOf(h.answers("a.example")) != "a" {
			t.Errorf("%s: a.example is not answered by its own", tc.reason)
		}
	}
}

// TestUnknownNamesOfTheOutsideAreRefused: the owner of a domain can give it our address, and have a browser inside take a page
// from there for one of ours. Every form of the Service's own name is answered.
func TestUnknownNamesOfTheOutsideAreRefused(t *testing.T) {
	everywhere := map[string]string{
		"a.example": "a", "x.b.example:8080": "a", "10.9.8.7:8080": "a", "[::1]:80": "a", "localhost:8080": "a", "x.localhost": "a",
		"convene": "a", "convene:8080": "a", "convene.meetings.svc": "a", "convene.meetings.svc.cluster.local:80": "a", "": "a",
		"convene.meetings.svc.clusterset.local": "a", "east.convene.meetings.svc.clusterset.local:80": "a", "convene.clusterset.local": "",
		"10-9-8-7.meetings.pod.cluster.local": "a", "10-9-8-7.meetings.pod": "", "10-9-8-7.meetings.pod.cluster.local.evil.example": "", "pod.cluster.local": "",
		"evil.example": "", "EVIL.example:8080": "", "evil.example.": "", "a.example.evil.example": "", "10.9.8.7.evil.example": "", "svc.example": "",
		"meetings.svc.evil.example": "", "a..": "", "convene.svc.meetings": "",
	}
	for _, tc := range []struct {
		reason, resolvConf string
		hosts              map[string]string
		namespace          string
	}{
		{"outside of a cluster", "nameserver 192.0.2.1\n", map[string]string{"convene.meetings": "", "convene.meetings.svc.corp.example": ""}, ""},
		{"no file", "", map[string]string{"convene.meetings": "", "convene.": "a"}, ""},
		{"the usual domain", "search meetings.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n", map[string]string{
			"convene.meetings": "a", "convene.meetings:8080": "a", "CONVENE.Meetings.": "a", "convene.other": "", "x.convene.meetings": "",
			"convene.meetings.svc.corp.example": "",
		}, ""},
		{"a domain of the operator's", "options ndots:5\nsearch meetings.svc.Corp.example svc.corp.example corp.example\n", map[string]string{
			"convene.meetings.svc.corp.example": "a", "Convene.Meetings.SVC.corp.example.:80": "a", "convene.meetings": "a",
			"corp.example": "", "evil.corp.example": "", "convene.meetings.svc.corp.example.evil.example": "", "convene.meetings.svcx.corp.example": "", "10-9-8-7.meetings.pod.corp.example": "a",
		}, ""},
		{"a domain of one label", "search meetings.svc.k8s svc.k8s k8s example.com\n", map[string]string{"convene.meetings.svc.k8s": "a", "convene.k8s": ""}, ""},
		{"the search line that counts is the last", "search other.svc.old.example\nsearch meetings.svc.new.example\n", map[string]string{
			"convene.meetings.svc.new.example": "a", "convene.meetings.svc.old.example": "", "convene.other": "", "convene.meetings": "a",
		}, ""},
		{"a namespace with the name of a domain that is sold", "search video.svc.cluster.local svc.cluster.local cluster.local\n", map[string]string{
			"convene.video": "", "evil.video": "", "convene.video.svc": "a", "convene.video.svc.cluster.local": "a",
		}, ""},
		{"no namespace", "search svc.corp.example corp.example\n", map[string]string{"convene.corp": "", "convene.meetings.svc.corp.example": ""}, ""},
		{"dnsPolicy Default", "nameserver 192.0.2.1\nsearch corp.example\n", map[string]string{"convene.meetings": "a", "convene.other": ""}, "meetings\n"},
	} {
		unknown := UnknownHosts{Refuse: true, Cluster: ParseResolvConf([]byte(tc.resolvConf)).Of(tc.namespace)}
		h := newHosts([]*Tenant{asking("a", 1, "a.example", "*.b.example")}, unknown)
		for _, hosts := range []map[string]string{everywhere, tc.hosts} {
			for host, want := range hosts {
				if got := nameOf(h.answers(host)); got != want {
					t.Errorf("%s: %s: %q answers, want %q", tc.reason, host, got, want)
				}
			}
		}
	}
}

func FuzzParseResolvConf(f *testing.F) {
	for _, seed := range []string{"search meetings.svc.cluster.local svc.cluster.local", "search\n", "search .svc. a.b.svc.c", "SEARCH x.svc.y."} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := ParseResolvConf(data)
		if strings.ContainsAny(c.Namespace, ". \n") || strings.ContainsAny(c.Domain, " \n") || c.isForeign("convene.a.svc.cluster.local") {
			t.Errorf("%q is read as %+v", data, c)
		}
	})
}

// The older of two namespaces keeps its host, with all hosts inside and around it.
func TestNoNamespaceGetsAHostInsideAnothers(t *testing.T) {
	for _, tc := range []struct {
		older, younger string
		conflict       bool
	}{
		{"*.example.com", "board.example.com", true},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "*.team.example.com", true},
		{"*.example.com", "*.example.com:8443", true},
		{"*.example.com", "board.example.com:8443", true},
		{"board.example.com", "board.example.com:443", true},
		{"board.example.com:443", "board.example.com", true},
		{"board.example.com", "*.example.com", true},
		{"a.b.example.com", "*.example.com", true},
		{"*.team.example.com", "*.example.com", true},
		{"board.example.com", "board.example.com", true},
		{"[::1]", "[::1]:8080", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", "badexample.com", false},
		{"*.example.com:8443", "board.example.com:9443", false},
		{"board.example.com:8443", "board.example.com:9443", false},
		{"*.team.example.com", "board.example.com", false},
		{"*.team.example.com", "*.other.example.com", false},
		{"10.0.0.1", "10.0.0.2", false},
	} {
		older, younger, own := asking("older", 1, tc.older), asking("younger", 2, tc.younger), asking("own", 3, tc.younger)
		younger.Namespace, younger.allowedHosts = "another", []string{"*"}
		h := newHosts([]*Tenant{younger, older}, UnknownHosts{})
		if got := len(h.conflicts[younger.NamespacedName]) > 0; got != tc.conflict || len(h.conflicts[older.NamespacedName]) > 0 {
			t.Errorf("%s inside or around %s of another namespace: conflicts are %v", tc.younger, tc.older, h.conflicts)
		}
		owner := " with a host of namespace ns"
		if tc.older == tc.younger {
			owner = " with ConferenceConfig ns/older"
		}
		if got := h.conflicts[younger.NamespacedName]; tc.conflict && got[0] != tc.younger+owner {
			t.Errorf("%s inside or around %s of another namespace: the conflict is %q, want it%s", tc.younger, tc.older, got, owner)
		}
		if tc.older == tc.younger {
			continue
		}
		if h := newHosts([]*Tenant{own, older}, UnknownHosts{}); len(h.conflicts) > 0 {
			t.Errorf("%s inside or around %s of the same namespace: conflicts are %v", tc.younger, tc.older, h.conflicts)
		}
	}
	around := asking("around", 3, "*.example.com")
	around.Namespace = "third"
	other := asking("other", 2, "b.example.com")
	other.Namespace = "second"
	if got := newHosts([]*Tenant{asking("one", 1, "a.example.com"), other, around}, UnknownHosts{}).conflicts[around.NamespacedName]; !slices.Equal(got,
		[]string{"*.example.com with hosts of several namespaces"}) {
		t.Errorf("the conflict with two namespaces is %q", got)
	}
	// What was refused protects nothing.
	h := newHosts([]*Tenant{
		asking("first", 1, "*.example.com"), {NamespacedName: types.NamespacedName{Namespace: "evil", Name: "x"}, Created: epoch.Add(2 * time.Second), Hosts: []string{"a.example.com"}},
		asking("third", 3, "a.example.com"),
	}, UnknownHosts{})
	if got := nameOf(h.answers("a.example.com")); got != "third" {
		t.Errorf("a.example.com is answered by %q", got)
	}
}

// answers returns the Tenant that answers a host.
func (h *hosts) answers(host string) *Tenant {
	t, _ := h.find(host)
	return t
}

// TestHostsThatAreAskedForAndNotGivenAreDenied: who calls one of them means the ConferenceConfig that asks for it. The default one answers
// it as before: no tenant takes an address from it by asking.
func TestHostsThatAreAskedForAndNotGivenAreDenied(t *testing.T) {
	byDefault, team, owner := asking("default", 1, "meet.example.com"), asking("team", 3), asking("owner", 2, "a.team.example.org")
	team.Namespace, owner.Namespace = "team", "owner"
	team.Hosts = []string{"10.0.0.1", "intranet:8080", "convene.convene-system.svc", "*.team.example.org", "own.example.org"}
	h := newHosts([]*Tenant{byDefault, team, owner}, UnknownHosts{Default: byDefault.NamespacedName, Cluster: Cluster{Namespace: "convene-system"}})
	for host, want := range map[string]struct {
		tenant string
		denied bool
	}{
		"meet.example.com": {"default", false}, "own.example.org": {"team", false}, "a.team.example.org": {"owner", false},
		"unknown.example.net": {"default", false}, "10.0.0.2": {"default", false}, "intranet": {"default", false},
		"10.0.0.1": {"default", true}, "10.0.0.1:443": {"default", true}, "intranet:8080": {"default", true},
		"Convene.convene-system.svc.": {"default", true}, "b.team.example.org": {"default", true},
	} {
		if got, denied := h.find(host); nameOf(got) != want.tenant || denied != want.denied {
			t.Errorf("%s is answered by %q, denied %t", host, nameOf(got), denied)
		}
	}
	// The only ConferenceConfig answers every host, also a host that it may not have.
	alone := newHosts([]*Tenant{team}, UnknownHosts{})
	if got, denied := alone.find("convene.other.svc"); got != team || denied {
		t.Errorf("the only one does not answer: %q, denied %t", nameOf(got), denied)
	}
}

// Claims agree with a comparison of each host with each other.
func TestClaimsAreWhatComparingAllSays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	host := func() string {
		return pick("", "", "*.") + pick("", "a.", "b.") + pick("", "a.", "b.") + "x" + pick("", "", ":1", ":2")
	}
	overlap := func(a, b string) bool {
		nameA, portA := cutWildcard(a)
		nameB, portB := cutWildcard(b)
		around := func(wildcard, name string) bool {
			return isWildcard(wildcard) && strings.HasSuffix(name, wildcard) && name != wildcard
		}
		return (nameA == nameB || around(nameA, nameB) || around(nameB, nameA)) && (portA == portB || portA == "" || portB == "")
	}
	for range 2_000 {
		var all []*Tenant
		for i := range 6 {
			all = append(all, &Tenant{NamespacedName: types.NamespacedName{Namespace: pick("one", "two", "three")}, Hosts: []string{host()}, UID: types.UID(fmt.Sprint(i))})
		}
		c := newClaims(all)
		var given []*Tenant
		for _, t2 := range all {
			want := slices.ContainsFunc(given, func(o *Tenant) bool { return o.Namespace != t2.Namespace && overlap(o.Hosts[0], t2.Hosts[0]) })
			if got := c.otherOwner(t2, t2.Hosts[0]) != nobody; got != want {
				t.Fatalf("%s of %s beside %v: %v, want %v", t2.Hosts[0], t2.Namespace, given, got, want)
			}
			if !want {
				c.add(t2, t2.Hosts[0])
				given = append(given, t2)
			}
		}
	}
}

// TestHostsOfManyLabelsAreCheap: what is kept of the hosts of a namespace grows with their number, not with their labels or ports.
func TestHostsOfManyLabelsAreCheap(t *testing.T) {
	const configs, hosts = 100, 64
	for name, host := range map[string]func(n int) string{
		"names of 118 labels":         func(n int) string { return strings.Repeat("a.", 117) + fmt.Sprintf("h%d.example", n) },
		"wildcards around each other": func(n int) string { return "*." + strings.Repeat("a.", n%118) + fmt.Sprintf("example:%d", n) },
		"names under all of these wildcards": func(n int) string {
			return []string{"*.", "x."}[n%2] + strings.Repeat("a.", n/2%118) + fmt.Sprintf("example:%d", n)
		},
	} {
		var all []*Tenant
		for c := range configs {
			one := asking(fmt.Sprint(c), c)
			for h := range hosts {
				one.Hosts = append(one.Hosts, host(c*hosts+h))
			}
			all = append(all, one)
		}
		h := newHosts(all, UnknownHosts{})
		if kept := len(h.claims.at) + len(h.claims.below); kept > 5*configs*hosts {
			t.Errorf("%s: %d places are kept of %d hosts", name, kept, configs*hosts)
		}
		if len(h.conflicts) > 0 {
			t.Errorf("%s: %d conflicts in one namespace", name, len(h.conflicts))
		}
	}
}

func TestTheOlderKeepsAHost(t *testing.T) {
	old, young := asking("old", 1, "x.example", "*.y.example", "x.example:80"), asking("young", 2, "x.example", "*.y.example", "own.example")
	twins := []*Tenant{asking("b", 3, "twin.example"), asking("a", 3, "twin.example")}
	for _, order := range [][]*Tenant{append([]*Tenant{old, young}, twins...), append(slices.Clone(twins), young, old)} {
		h := newHosts(order, UnknownHosts{})
		for host, want := range map[string]string{"x.example": "old", "z.y.example": "old", "own.example": "young", "twin.example": "a"} {
			if got := nameOf(h.answers(host)); got != want {
				t.Errorf("%s is answered by %q, want %q", host, got, want)
			}
		}
		want := map[types.NamespacedName][]string{
			young.NamespacedName:         {"x.example with ConferenceConfig ns/old", "*.y.example with ConferenceConfig ns/old"},
			{Namespace: "ns", Name: "b"}: {"twin.example with ConferenceConfig ns/a"},
		}
		if diff := cmp.Diff(want, h.conflicts); diff != "" {
			t.Errorf("conflicts (-want +got):\n%s", diff)
		}
	}
	twice := newHosts([]*Tenant{asking("one", 1, "x.example", "x.example")}, UnknownHosts{})
	if len(twice.conflicts) > 0 {
		t.Errorf("a tenant is in conflict with itself: %v", twice.conflicts)
	}
}

func FuzzFindHost(f *testing.F) {
	for _, seed := range []string{"a.example", "[::1]:80", "[", "]:", "a.b.example:", "*.example", "::::", "a.example.:443"} {
		f.Add(seed)
	}
	h := newHosts([]*Tenant{asking("exact", 1, "a.example"), asking("wildcard", 2, "*.b.example")}, UnknownHosts{})
	exact := regexp.MustCompile(`(?is)^a\.example\.?(:[^:]*)?$`)
	wildcard := regexp.MustCompile(`(?is)^[^:]+\.b\.example\.?(:[^:]*)?$`)
	f.Fuzz(func(t *testing.T, host string) {
		got, want := nameOf(h.answers(host)), ""
		switch {
		case strings.ContainsAny(host, "[]"): // IPv6: the table has it
			return
		case exact.MatchString(host):
			want = "exact"
		case wildcard.MatchString(host):
			want = "wildcard"
		}
		if got != want {
			t.Errorf("%q is answered by %q, want %q", host, got, want)
		}
	})
}
