// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// bound has a user of its own for each of Kubernetes' roles view, edit and admin, with what the shipped roles add to these,
// and one to whom a shipped role alone is bound. The API server of the tests has no controllers: the rules are added up here, by
// label, as they do it.
func bound(t *testing.T, c *testkit.Cluster, alone string) {
	t.Helper()
	shipped := manifests.OfKind(manifests.Kustomize(t), "ClusterRole")
	give := func(user string, rules []rbacv1.PolicyRule) {
		name := metav1.ObjectMeta{Namespace: c.Namespace, Name: user}
		c.Create(t, &rbacv1.Role{ObjectMeta: name, Rules: rules}, &rbacv1.RoleBinding{
			ObjectMeta: name,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		})
	}
	for _, role := range []string{"view", "edit", "admin"} {
		var rules []rbacv1.PolicyRule
		for _, o := range shipped {
			if o.GetLabels()["rbac.authorization.k8s.io/aggregate-to-"+role] == "true" {
				rules = append(rules, manifests.As[rbacv1.ClusterRole](t, o).Rules...)
			}
		}
		give(role, rules)
	}
	give(alone, manifests.As[rbacv1.ClusterRole](t, manifests.Find(t, shipped, "ClusterRole", alone)).Rules)
}

// TestWhoMaySeeNames: those who may only view a namespace see counts. Names of participants need edit, admin, or a role of their
// own.
func TestWhoMaySeeNames(t *testing.T) {
	c := testkit.ControlPlane(t)
	const alone = "convene-meeting-viewer"
	bound(t, c, alone)
	for _, tc := range []struct {
		verb, resource string
		// who may.
		who string
	}{
		{"get", "meetings.convene.dev", "edit admin " + alone},
		{"list", "meetings.convene.dev", "edit admin " + alone},
		{"watch", "meetings.convene.dev", "edit admin " + alone},
		{"create", "meetings.convene.dev", "edit admin"},
		{"delete", "meetings.convene.dev", "edit admin"},
		{"get", "conferenceconfigs.convene.dev", "view edit admin"},
		{"list", "conferenceconfigs.convene.dev", "view edit admin"},
		{"update", "conferenceconfigs.convene.dev", "admin"},
		{"get", "secrets", ""},
	} {
		for _, user := range []string{"view", "edit", "admin", alone} {
			want := strings.Contains(" "+tc.who+" ", " "+user+" ")
			// It fails where the answer is no.
			out, _ := c.TryKubectl(t, "auth", "can-i", tc.verb, tc.resource, "--as="+user)
			answer := strings.Fields(out)
			if len(answer) == 0 || (answer[0] != "yes" && answer[0] != "no") {
				t.Fatalf("kubectl does not say whether %s may %s %s: %s", user, tc.verb, tc.resource, out)
			}
			if can := answer[0] == "yes"; can != want {
				t.Errorf("%s may %s %s: %t", user, tc.verb, tc.resource, can)
			}
		}
	}
}
