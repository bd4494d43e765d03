// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/livekit"
)

func goodMediaServer() *v1alpha1.MediaServer {
	return &v1alpha1.MediaServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "livekit"},
		Spec:       v1alpha1.MediaServerSpec{APIURL: "https://livekit:7880", SecretRef: v1alpha1.SecretReference{Name: "livekit"}},
	}
}

// Everything that can be wrong with a MediaServer, and what its condition says.
func TestProblemsOfAMediaServer(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		change   func(*v1alpha1.MediaServer, secrets)
		is, says string
	}{
		{"no Secret", func(_ *v1alpha1.MediaServer, s secrets) { delete(s, "livekit") }, "SecretNotFound", `Secret "livekit" does not exist in namespace "ns", or Convene may not read it; create it`},
		{"the key is not in it", func(_ *v1alpha1.MediaServer, s secrets) { delete(s["livekit"], "apiKey") }, "KeyNotFound", `Secret "livekit" has no key "apiKey"; add it`},
		{"the secret is not in it", func(_ *v1alpha1.MediaServer, s secrets) { delete(s["livekit"], "apiSecret") }, "KeyNotFound", `Secret "livekit" has no key "apiSecret"; add it`},
		{"the key is empty", func(_ *v1alpha1.MediaServer, s secrets) { s["livekit"]["apiKey"] = "\n" }, "AddressInvalid", "key and secret must both be set"},
		{"the bundle holds no certificate", func(o *v1alpha1.MediaServer, _ secrets) { o.Spec.CABundle = []byte("x") }, "AddressInvalid", "spec.caBundle holds no certificate; give it as PEM"},
	} {
		o, s := goodMediaServer(), good()
		tc.change(o, s)
		got := resolveMediaServer(o, s.find, livekit.New)
		if got.Engine != nil || len(got.Problems) != 1 || got.Problems[0].Reason != tc.is || !strings.Contains(got.Problems[0].Message, tc.says) {
			t.Errorf("%s: %+v", tc.reason, got.Problems)
		}
	}
	if got := resolveMediaServer(goodMediaServer(), good().find, livekit.New); got.Engine == nil || len(got.Problems) > 0 {
		t.Errorf("nothing is wrong, and yet: %+v", got.Problems)
	}
}

func TestNamespacesThatMayUseAMediaServer(t *testing.T) {
	video := &metav1.LabelSelector{MatchLabels: map[string]string{"video": "yes"}}
	for _, tc := range []struct {
		allowed   v1alpha1.AllowedNamespaces
		namespace string
		labels    labels.Set
		want      bool
	}{
		{v1alpha1.AllowedNamespaces{}, "ns", nil, true},
		{v1alpha1.AllowedNamespaces{}, "other", nil, false},
		{v1alpha1.AllowedNamespaces{From: "Same"}, "other", nil, false},
		{v1alpha1.AllowedNamespaces{From: "All"}, "other", nil, true},
		{v1alpha1.AllowedNamespaces{From: "Selector", Selector: video}, "ns", nil, true},
		{v1alpha1.AllowedNamespaces{From: "Selector", Selector: video}, "other", labels.Set{"video": "yes"}, true},
		{v1alpha1.AllowedNamespaces{From: "Selector", Selector: video}, "other", labels.Set{"video": "no"}, false},
		{v1alpha1.AllowedNamespaces{From: "Selector", Selector: video}, "other", nil, false},
		{v1alpha1.AllowedNamespaces{From: "Selector"}, "other", nil, false},
		{v1alpha1.AllowedNamespaces{From: "Same", Selector: video}, "other", labels.Set{"video": "yes"}, false},
	} {
		o := goodMediaServer()
		o.Spec.AllowedNamespaces = tc.allowed
		if got := resolveMediaServer(o, good().find, livekit.New).allows(tc.namespace, tc.labels); got != tc.want {
			t.Errorf("%+v: namespace %q with %v: %t", tc.allowed, tc.namespace, tc.labels, got)
		}
	}
}

// TestASelectorThatCannotBeRead is told, and is not taken for one that matches nothing: its own namespace still uses the media server.
func TestASelectorThatCannotBeRead(t *testing.T) {
	for says, selector := range map[string]*metav1.LabelSelector{
		`"in" is not a valid label selector operator`:   {MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "in", Values: []string{"b"}}}},
		`for 'in', 'notin' operators, values set can't`: {MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}},
		"name part must consist of":                     {MatchLabels: map[string]string{"a b": "c"}},
		"a valid label must be":                         {MatchLabels: map[string]string{"a": "b c"}},
	} {
		for _, key := range []string{"apiKey", "another"} {
			o, s := goodMediaServer(), good()
			o.Spec.AllowedNamespaces = v1alpha1.AllowedNamespaces{From: v1alpha1.FromSelector, Selector: selector}
			s["livekit"]["another"] = ""
			delete(s["livekit"], key)
			got := resolveMediaServer(o, s.find, livekit.New)
			last := got.Problems[len(got.Problems)-1]
			if last.Reason != v1alpha1.ReasonSelectorInvalid || !strings.Contains(last.Message, says) || !last.Fatal {
				t.Errorf("%s: %+v", says, got.Problems)
			}
			if (got.Engine == nil) != (key == "apiKey") || !got.allows("ns", nil) || got.allows("other", labels.Set{"a": "b"}) {
				t.Errorf("%s: %+v", says, got)
			}
		}
	}
}
