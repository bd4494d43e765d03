// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// claimed is a tenant that asks for hosts; without any, the host of the URL counts.
func claimed(namespace, name, baseURL string, hosts ...string) *v1alpha1.ConferenceConfig {
	return &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: baseURL, Hostnames: hosts,
			API: &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api-key", Key: "key"}}},
		},
	}
}

// allow makes a namespace that may claim hosts; none at all with "-".
func allow(t *testing.T, c *testkit.Cluster, name, hosts string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if hosts != "-" {
		ns.Annotations = map[string]string{"convene.dev/allowed-hosts": hosts}
	}
	c.Create(t, ns)
}

// enforce applies what limits hosts, and waits until the API server does.
func enforce(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	all := manifests.Kustomize(t, "allowed-hosts")
	for _, kind := range []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} {
		c.Create(t, manifests.Find(t, all, kind, "convene-allowed-hosts"))
	}
	probe := claimed(c.Namespace, "probe", "https://probe.example.com")
	testkit.Eventually(t, patience, func() error {
		if err := c.Client.Create(t.Context(), probe.DeepCopy(), client.DryRunAll); !apierrors.IsForbidden(err) {
			return fmt.Errorf("the policy is not in force yet: %w", err)
		}
		return nil
	})
}

// TestANamespaceClaimsOnlyItsHosts has the real API server decide about claims of hosts.
func TestANamespaceClaimsOnlyItsHosts(t *testing.T) {
	c := testkit.OwnControlPlane(t)
	allow(t, c, "team-a", " *.team-a.example.com,Meet.Example.Org , ported.example.com:8443,*.ports.example.com:9443,[fd00::1]")
	allow(t, c, "nobody", "-")
	allow(t, c, "empty", " , ")
	allow(t, c, "platform", "*")
	enforce(t, c)
	const other = "https://any.example.net"
	for _, tc := range []struct {
		reason, namespace, baseURL string
		hosts                      []string
		// refused are the hosts that the refusal names; none is no refusal.
		refused string
	}{
		{"the exact name", "team-a", other, []string{"meet.example.org"}, ""},
		{"in other letters", "team-a", other, []string{"MEET.example.ORG"}, ""},
		{"with a port", "team-a", other, []string{"meet.example.org:8443"}, ""},
		{"under the wildcard", "team-a", other, []string{"a.team-a.example.com", "a.b.team-a.example.com:8443"}, ""},
		{"the wildcard itself, and one inside", "team-a", other, []string{"*.team-a.example.com", "*.b.Team-A.example.com", "*.team-a.example.com:8443"}, ""},
		{"the host of the URL", "team-a", "https://a.team-a.example.com:8443/video", nil, ""},
		{"the host of a URL in other letters", "team-a", "https://A.TEAM-A.example.com", nil, ""},
		{"an address", "team-a", other, []string{"[fd00::1]:8443"}, ""},
		{"the port that is allowed", "team-a", other, []string{"ported.example.com:8443", "a.ports.example.com:9443"}, ""},
		{"anything, to the platform", "platform", other, []string{"*.com", "x.example.net:1"}, ""},

		{"the name of another team", "team-a", other, []string{"board.example.com"}, "board.example.com"},
		{"the name above the wildcard", "team-a", other, []string{"team-a.example.com"}, "team-a.example.com"},
		{"a wildcard around", "team-a", other, []string{"*.example.com"}, "*.example.com"},
		{"a wildcard around an exact name", "team-a", other, []string{"*.example.org"}, "*.example.org"},
		{"a wildcard under an exact name", "team-a", other, []string{"*.meet.example.org"}, "*.meet.example.org"},
		{"a name that ends alike", "team-a", other, []string{"evil-team-a.example.com"}, "evil-team-a.example.com"},
		{"a name that begins alike", "team-a", other, []string{"meet.example.org.evil.example.com"}, "meet.example.org.evil.example.com"},
		{"another port", "team-a", other, []string{"ported.example.com:8080", "a.ports.example.com"}, "ported.example.com:8080, a.ports.example.com"},
		{"all ports", "team-a", other, []string{"ported.example.com"}, "ported.example.com"},
		{"one of several", "team-a", other, []string{"meet.example.org", "board.example.com"}, "board.example.com"},
		{"the host of a foreign URL", "team-a", "https://Board.example.com:8443", nil, "board.example.com:8443"},
		{"an address inside another", "team-a", other, []string{"[fd00::12]"}, "[fd00::12]"},
		{"without an annotation", "nobody", "https://meet.example.org", nil, "meet.example.org"},
		{"with an empty annotation", "empty", "https://meet.example.org", nil, "meet.example.org"},
	} {
		err := c.Client.Create(t.Context(), claimed(tc.namespace, "x", tc.baseURL, tc.hosts...), client.DryRunAll)
		switch {
		case tc.refused == "" && err != nil:
			t.Errorf("%s: %v", tc.reason, err)
		case tc.refused != "" && !apierrors.IsForbidden(err):
			t.Errorf("%s is not refused: %v", tc.reason, err)
		case tc.refused != "":
			for _, says := range []string{"namespace " + tc.namespace + " may not claim " + tc.refused + ": ", "convene.dev/allowed-hosts"} {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%s: the refusal does not say %q: %v", tc.reason, says, err)
				}
			}
		}
	}
}

// TestAllowedHostsHinderNoOtherWrite: a ConferenceConfig was there before the policy, with a host that its namespace may not claim.
// It can be changed, written by the manager and deleted; it cannot claim more.
func TestAllowedHostsHinderNoOtherWrite(t *testing.T) {
	c := testkit.OwnControlPlane(t)
	allow(t, c, "team-a", "-")
	c.Recipe(t, "allowed-hosts", testkit.RecipeOptions{})
	named := claimed("team-a", "named", "https://a.team-a.example.com", "Board.example.com", "a.team-a.example.com")
	byURL := claimed("team-a", "by-url", "https://Desk.example.com")
	c.Create(t, named, byURL)
	enforce(t, c)
	change := func(config *v1alpha1.ConferenceConfig, change func(*v1alpha1.ConferenceConfigSpec)) error {
		changed := config.DeepCopy()
		change(&changed.Spec)
		return c.Client.Update(t.Context(), changed, client.DryRunAll)
	}
	for _, config := range []*v1alpha1.ConferenceConfig{named, byURL} {
		config.Status.ObservedGeneration = config.Generation
		if err := c.Client.Status().Update(t.Context(), config); err != nil {
			t.Errorf("the manager's status: %v", err)
		}
		if err := change(config, func(s *v1alpha1.ConferenceConfigSpec) { s.API.Allowed = map[string]bool{"token": false} }); err != nil {
			t.Errorf("another field: %v", err)
		}
		if err := change(config, func(s *v1alpha1.ConferenceConfigSpec) { s.Hostnames = []string{"a.team-a.example.com"} }); err != nil {
			t.Errorf("hosts that are allowed: %v", err)
		}
		if err := change(config, func(s *v1alpha1.ConferenceConfigSpec) { s.Hostnames = append(s.Hostnames, "*.example.com") }); !apierrors.IsForbidden(err) {
			t.Errorf("one more host: %v", err)
		}
	}
	for reason, spec := range map[string]func(*v1alpha1.ConferenceConfigSpec){
		"fewer hosts, in other letters":  func(s *v1alpha1.ConferenceConfigSpec) { s.Hostnames = []string{"board.example.com"} },
		"the URL, beside the host names": func(s *v1alpha1.ConferenceConfigSpec) { s.BaseURL = "https://lobby.example.com" },
	} {
		if err := change(named, spec); err != nil {
			t.Errorf("%s: %v", reason, err)
		}
	}
	for reason, spec := range map[string]func(*v1alpha1.ConferenceConfigSpec){
		"another URL": func(s *v1alpha1.ConferenceConfigSpec) { s.BaseURL = "https://lobby.example.com" },
		"a port":      func(s *v1alpha1.ConferenceConfigSpec) { s.BaseURL = "https://desk.example.com:8443" },
	} {
		if err := change(byURL, spec); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if err := change(byURL, func(s *v1alpha1.ConferenceConfigSpec) { s.BaseURL = "http://desk.example.com/video" }); err != nil {
		t.Errorf("another path of the same host: %v", err)
	}
	for _, config := range []*v1alpha1.ConferenceConfig{named, byURL} {
		if err := c.Client.Delete(t.Context(), config); err != nil {
			t.Errorf("the delete: %v", err)
		}
	}
}
