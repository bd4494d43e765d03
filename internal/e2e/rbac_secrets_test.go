// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestSecretsOfOtherNamespacesAreNotRead: a ConferenceConfig in a namespace that is not on the list says that its Secrets may not
// be read, and is served once its own admin lets Convene in.
func TestSecretsOfOtherNamespacesAreNotRead(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.OwnControlPlane(t)
	const home, elsewhere = manifests.SystemNamespace, "team-c"
	for _, name := range []string{home, elsewhere} {
		cluster.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	grant(t, cluster, manifests.Helm(t, home, "--set", "rbac.secretNamespaces={"+cluster.Namespace+"}"))
	w := newWorldWith(t, cluster, testkit.ManagerOptions{
		Kubeconfig: serviceAccountKubeconfig(t, cluster, home, "convene"),
		Args:       []string{"--namespace=", "--leader-elect", "--leader-election-namespace=" + home},
	})
	other := w.config("elsewhere")
	other.Namespace = elsewhere
	w.Create(t, other, testkit.SecretFor(v1alpha1.UsedByConferenceConfig, elsewhere, "api-a", map[string]string{"key": "key-of-elsewhere-0123456789"}))
	says := func(condition string, status metav1.ConditionStatus, text string) func() error {
		return func() error {
			var c v1alpha1.ConferenceConfig
			if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(other), &c); err != nil {
				return err
			}
			got := meta.FindStatusCondition(c.Status.Conditions, condition)
			if got == nil || got.Status != status || !strings.Contains(got.Message, text) {
				return fmt.Errorf("%s is %+v", condition, got)
			}
			return nil
		}
	}
	w.eventually(t, says(v1alpha1.ConditionAPIKeysResolved, metav1.ConditionFalse, "see that Convene may read Secrets there"))
	w.eventually(t, says(v1alpha1.ConditionSigningKeysResolved, metav1.ConditionFalse, "Convene makes it where it may write Secrets"))
	w.eventually(t, says(v1alpha1.ConditionReady, metav1.ConditionFalse, "may not be read"))

	w.Recipe(t, "bind-secrets", testkit.RecipeOptions{})
	w.eventually(t, says(v1alpha1.ConditionAPIKeysResolved, metav1.ConditionTrue, ""))
	w.eventually(t, says(v1alpha1.ConditionSigningKeysResolved, metav1.ConditionTrue, ""))
}
