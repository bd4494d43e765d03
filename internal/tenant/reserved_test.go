// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
)

// nobodys are hosts that no namespace owns, with whose else they are.
var nobodys = map[string]string{
	"127.0.0.1": "a port-forward's", "10.96.0.7:8080": "the Service's address", "[::1]": "a port-forward's", "[fd00::7]:8080": "the Service's address",
	"127.1": "127.0.0.1, written shorter", "127.0.0.0x1": "127.0.0.1, written otherwise", "*.0.0.1": "addresses", "*.1": "addresses",
	"localhost": "a port-forward's", "localhost:8080": "a port-forward's", "x.localhost": "a port-forward's", "*.localhost": "a port-forward's",
	"convene": "the Service's, in its namespace", "convene:8080": "the Service's, in its namespace", "*.internal": "a whole network's",
	"convene.convene-system": "the Service's", "convene.convene-system.svc": "the Service's", "convene.convene-system.svc:80": "the Service's",
	"convene.convene-system.svc.cluster.local": "the Service's", "convene.convene-system.svc.corp.example": "the Service's",
	"other.team-b.svc": "another team's Service's", "team-a.svc.team-b.svc": "another team's Service's", "*.convene-system": "the Service's",
	"*.convene-system.svc": "the Service's", "*.svc": "all Services'", "*.svc.cluster.local": "all Services'", "*.cluster.local": "all Services'", "*.local": "a whole network's",
	"*.svc.corp.example": "all Services'", "*.corp.example": "all Services', with others", "*.example": "all Services', with others",
	"*.com": "the public's", "*.com:443": "the public's", "*.co.uk": "the public's", "*.xn--p1ai": "the public's",
}

// TestNobodysHostsAreForThoseWhoMayHaveThem: without a rule, whoever asks for the manager's own address first answers it for all.
func TestNobodysHostsAreForThoseWhoMayHaveThem(t *testing.T) {
	unknown := UnknownHosts{Cluster: Cluster{Domain: "corp.example", Namespace: "convene-system"}}
	of := func(namespace string, age int, hosts ...string) *Tenant {
		one := asking(namespace, age, hosts...)
		one.Namespace = namespace
		return one
	}
	oldest := of("first", 1, "first.example.net")
	answers := func(unknown UnknownHosts, who *Tenant, hosts []string) error {
		who.Hosts = hosts
		h := newHosts([]*Tenant{oldest, who}, unknown)
		for _, host := range hosts {
			if got := h.answers(strings.Replace(host, "*", "x", 1)); got != who {
				return fmt.Errorf("%s is answered by %q", host, nameOf(got))
			}
		}
		if problems := h.problems(who.NamespacedName); len(problems) > 0 {
			return fmt.Errorf("problems: %+v", problems)
		}
		return nil
	}
	hosts := slices.Sorted(maps.Keys(nobodys))
	for _, host := range hosts {
		team := of("team-a", 2, host)
		h := newHosts([]*Tenant{oldest, team}, unknown)
		if got := h.answers(strings.Replace(host, "*", "x", 1)); got == team {
			t.Errorf("%s (%s) is team-a's", host, nobodys[host])
		}
		problems := h.problems(team.NamespacedName)
		if len(problems) != 1 || problems[0].Condition != v1alpha1.ConditionHostConflict || problems[0].Reason != v1alpha1.ReasonNotAllowed || !problems[0].Fatal ||
			!strings.Contains(problems[0].Message, `"team-a" may not claim `+host+",") || !strings.Contains(problems[0].Message, annotationAllowedHosts) {
			t.Errorf("%s: problems are %+v", host, problems)
		}
		for _, entry := range []string{"*", strings.ToUpper(host), "other.example.org, " + host} {
			namespace := &metav1.ObjectMeta{Annotations: map[string]string{annotationAllowedHosts: entry}}
			team.allowedHosts = allowedHosts(namespace)
			if err := answers(unknown, team, []string{host}); err != nil {
				t.Errorf("team-a is allowed %s: %v", entry, err)
			}
		}
	}
	byDefault := unknown
	byDefault.Default = types.NamespacedName{Namespace: "chosen", Name: "default"}
	for _, tc := range []struct {
		reason  string
		unknown UnknownHosts
		who     *Tenant
		hosts   []string
	}{
		{"the manager's own namespace", unknown, of("convene-system", 2), hosts},
		{"the namespace of the oldest", unknown, of("first", 2), []string{"127.0.0.1", "[::1]:8080", "127.1", "localhost:8080", "x.localhost", "convene"}},
		{"the namespace of the default", byDefault, of("chosen", 2), hosts},
		{"its own Services", unknown, of("team-a", 2), []string{
			"meet.team-a.svc", "meet.team-a.svc:8080", "meet.team-a.svc.cluster.local", "meet.team-a.svc.corp.example", "*.team-a.svc",
		}},
		{"what somebody can own", unknown, of("team-a", 2), []string{
			"meet.example.org", "*.example.org", "example.org:8443", "*.team.example.co.uk", "meet.corp.example", "*.meet.corp.example", "svc.example.org", "localhost.example.org",
			"127.0.0.1.example.org", "svc.cluster.local.example.org",
		}},
	} {
		if err := answers(tc.unknown, tc.who, tc.hosts); err != nil {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
	for _, host := range hosts {
		if err := answers(byDefault, of("first", 0), []string{host}); err == nil {
			t.Errorf("the oldest has %s beside a default", host)
		}
	}
	for _, host := range []string{"*.com", "*.svc", "*.internal", "convene.convene-system.svc"} {
		if err := answers(unknown, of("first", 0), []string{host}); err == nil {
			t.Errorf("the oldest has %s", host)
		}
	}
}

// TestAllows is what TestANamespaceClaimsOnlyItsHosts asks of the ValidatingAdmissionPolicy.
func TestAllows(t *testing.T) {
	for _, tc := range []struct {
		entry, host string
		want        bool
	}{
		{"*", "127.0.0.1:80", true},
		{"meet.example.org", "meet.example.org:8443", true},
		{"*.example.org", "*.example.org:8443", true},
		{"*.example.org", "a.b.example.org", true},
		{"*.ports.example.com:9443", "a.ports.example.com:9443", true},
		{"[fd00::1]", "[fd00::1]:8443", true},
		{"*.example.org", "example.org", false},
		{"meet.example.org", "*.example.org", false},
		{"*.example.org", "evilexample.org", false},
		{"meet.example.org", "meet.example.org.evil.example", false},
		{"ported.example.com:8443", "ported.example.com", false},
		{"*.ports.example.com:9443", "a.ports.example.com", false},
		{"[fd00::1]", "[fd00::12]", false},
		{"*example.org", "evilexample.org", false},
	} {
		if got := allows(tc.entry, tc.host); got != tc.want {
			t.Errorf("the entry %s allows %s: %t", tc.entry, tc.host, got)
		}
	}
}
