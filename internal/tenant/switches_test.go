// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/api/v1alpha1"
)

const allOn = "docs join meeting meetingEnd meetings stats token"

func TestSwitches(t *testing.T) {
	const a, b = v1alpha1.VariantA, v1alpha1.VariantB
	for _, tc := range []struct {
		reason   string
		variant  v1alpha1.Variant
		allowed  map[string]bool
		disabled []string
		// on are the enabled endpoints, in alphabetical order.
		on string
		// problem is the reason of the condition and a part of its message.
		problem, says string
	}{
		{"A: nothing is named, everything is on", a, nil, nil, allOn, "", ""},
		{"A: an empty map is none", a, map[string]bool{}, nil, allOn, "", ""},
		{"A: false disables", a, map[string]bool{"stats": false}, nil, "docs join meeting meetingEnd meetings token",
			v1alpha1.ReasonOmittedNames, "therefore enabled: docs, join, meeting, meetingEnd, meetings, token"},
		{"A: all are named", a, map[string]bool{"docs": true, "join": true, "meeting": true, "meetingEnd": false, "meetings": true, "stats": true, "token": false}, nil,
			"docs join meeting meetings stats", "", ""},
		{"A: meetingEnd follows meeting where it is not named", a, map[string]bool{"meeting": false}, nil, "docs join meetings stats token",
			v1alpha1.ReasonOmittedNames, "meetingEnd"},
		{"A: meetingEnd that is named does not follow", a, map[string]bool{"meeting": false, "meetingEnd": true}, nil, "docs join meetingEnd meetings stats token",
			v1alpha1.ReasonOmittedNames, "docs"},
		{"A: unknown names are accepted and told of", a, map[string]bool{"recording": false, "Stats": false}, nil, allOn,
			v1alpha1.ReasonUnknownNames, "No endpoint is named Stats, recording"},
		{"A: endpoints of the service of before", a, map[string]bool{"docs": true, "join": true, "meeting": true, "meetings": true, "meetingEnd": true, "stats": true, "token": true,
			"slack": true, "mattermost": false}, nil, allOn, "", ""},
		{"A: the list of B does not count", a, nil, []string{"stats"}, allOn, "", ""},
		{"B: nothing is disabled", b, nil, nil, "docs join meeting meetings stats token", "", ""},
		{"B: a list", b, nil, []string{"token", "meetings"}, "docs join meeting stats", "", ""},
		{"B: twice is once", b, nil, []string{"token", "token"}, "docs join meeting meetings stats", "", ""},
		{"B: there is no end to disable", b, nil, []string{"meetingEnd"}, "docs join meeting meetings stats token",
			v1alpha1.ReasonUnknownNames, "No endpoint is named meetingEnd"},
		{"B: everything", b, nil, []string{"docs", "join", "meeting", "meetings", "stats", "token"}, "", "", ""},
	} {
		tenant := Tenant{Variant: tc.variant, BaseURL: "https://x.example"}.Switch(tc.allowed, tc.disabled)
		if got := strings.Join(tenant.EnabledEndpoints(), " "); got != tc.on {
			t.Errorf("%s: %q are on, want %q", tc.reason, got, tc.on)
		}
		for _, e := range []Endpoint{Docs, Join, Meeting, MeetingEnd, Meetings, Stats, Token} {
			has := e != MeetingEnd || tc.variant == a
			if tenant.Has(e) != has || tenant.Enabled(e) != strings.Contains(" "+tc.on+" ", " "+string(e)+" ") {
				t.Errorf("%s: %s is there %t, and on %t", tc.reason, e, tenant.Has(e), tenant.Enabled(e))
			}
		}
		p := switches{allowed: tc.allowed, disabled: tc.disabled}.problem(tc.variant)
		switch {
		case (p == nil) != (tc.problem == ""):
			t.Errorf("%s: the problem is %+v", tc.reason, p)
		case p == nil:
		case p.Condition != v1alpha1.ConditionEndpointNamesValid || p.Reason != tc.problem || !strings.Contains(p.Message, tc.says) ||
			p.WhenTrue != (tc.problem == v1alpha1.ReasonOmittedNames) || p.Fatal:
			t.Errorf("%s: the problem is %+v, want %s with %q", tc.reason, *p, tc.problem, tc.says)
		}
	}
	if tenant := (&Tenant{}); tenant.Has(Stats) || tenant.Enabled(Stats) {
		t.Error("a tenant that was never switched has endpoints")
	}
}

// An extension is off until it is named, in both variants, whatever else the settings say.
func TestExtensionsAreOffUntilTheyAreNamed(t *testing.T) {
	was := extensions
	extensions = []Endpoint{"control", "events"}
	t.Cleanup(func() { extensions = was })
	const a, b = v1alpha1.VariantA, v1alpha1.VariantB
	for _, tc := range []struct {
		reason   string
		variant  v1alpha1.Variant
		switches switches
		on       string
	}{
		{"A: nothing is named", a, switches{}, allOn},
		{"B: nothing is named", b, switches{}, "docs join meeting meetings stats token"},
		{"A: one is named", a, switches{extensions: []string{"events"}}, "docs events join meeting meetingEnd meetings stats token"},
		{"B: both are named", b, switches{extensions: []string{"events", "control"}}, "control docs events join meeting meetings stats token"},
		{"B: one is named, and others are disabled", b, switches{disabled: []string{"docs", "token", "events"}, extensions: []string{"events"}}, "events join meeting meetings stats"},
		{"A: the map does not reach them", a, switches{allowed: map[string]bool{"control": true}}, allOn},
		{"A: an endpoint of the document is no extension", a, switches{allowed: map[string]bool{"stats": false}, extensions: []string{"stats"}},
			"docs join meeting meetingEnd meetings token"},
		{"A: a name that nobody knows", a, switches{extensions: []string{"recording"}}, allOn},
	} {
		tenant := Tenant{Variant: tc.variant, enabled: tc.switches.resolve(tc.variant)}
		if got := strings.Join(tenant.EnabledEndpoints(), " "); got != tc.on {
			t.Errorf("%s: %q are on, want %q", tc.reason, got, tc.on)
		}
		for _, e := range extensions {
			if on := strings.Contains(" "+tc.on+" ", " "+string(e)+" "); tenant.Has(e) != on || tenant.Enabled(e) != on {
				t.Errorf("%s: %s is there %t, and on %t", tc.reason, e, tenant.Has(e), tenant.Enabled(e))
			}
		}
	}
}

// The rule of spec.api.extensions in the CRD takes the extensions that there are, and refuses all others with their names.
func TestTheSchemaKnowsTheExtensions(t *testing.T) {
	raw, err := os.ReadFile("../../config/crd/bases/convene.dev_conferenceconfigs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	rules := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["api"].Properties["extensions"].XValidations
	var quoted []string
	for _, e := range extensions {
		quoted = append(quoted, "'"+string(e)+"'")
	}
	if want := "self.all(name, name in [" + strings.Join(quoted, ", ") + "])"; len(rules) != 1 || rules[0].Rule != want {
		t.Errorf("the rules are %+v, want %s", rules, want)
	}
}

func TestMeetingURL(t *testing.T) {
	for room, want := range map[string]string{
		"standup": "https://x.example/p/join/standup", "a b": "https://x.example/p/join/a%20b", "50%?#": "https://x.example/p/join/50%25%3F%23",
		"会": "https://x.example/p/join/%E4%BC%9A",
	} {
		if got := MeetingURL("https://x.example/p", room); got != want {
			t.Errorf("the link of %q is %q, want %q", room, got, want)
		}
	}
}
