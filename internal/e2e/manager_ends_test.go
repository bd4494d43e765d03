// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/internal/testkit"
)

// TestAManagerThatCannotStartEnds when it is told to: it has nobody to let go.
func TestAManagerThatCannotStartEnds(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.ControlPlane(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "nobody"}}
	cluster.Create(t, account)
	m := testkit.UnreadyManager(t, cluster, testkit.ManagerOptions{Kubeconfig: serviceAccountKubeconfig(t, cluster, cluster.Namespace, account.Name)})
	testkit.Eventually(t, patience, func() error {
		if !strings.Contains(m.Log(), "is forbidden") {
			return errors.New("it does not try to fill its caches")
		}
		return nil
	})
	if err := m.End(); err != nil {
		t.Error(err)
	}
}
