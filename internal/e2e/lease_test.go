// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestInstallationsInOneNamespaceEachLead: each of two installations in a namespace serves another namespace, and has a leader under the
// rights that the chart gives it. One whose Lease the API server refuses is not ready, and says why.
func TestInstallationsInOneNamespaceEachLead(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.ControlPlane(t)
	home := cluster.NewNamespace(t)
	var managers []*testkit.ManagerProcess
	for _, name := range []string{"one", "two"} {
		tenants := cluster.NewNamespace(t)
		grant(t, cluster, manifests.Helm(t, home, "--set", "fullnameOverride="+name+",watchNamespace="+tenants+",rbac.userRoles=false"))
		managers = append(managers, testkit.Manager(t, cluster, testkit.ManagerOptions{
			Kubeconfig: serviceAccountKubeconfig(t, cluster, home, name),
			Args: []string{
				"--namespace=" + tenants, "--leader-elect", "--leader-election-namespace=" + home, "--leader-elect-lease-duration=2s",
				"--leader-elect-renew-deadline=1s", "--leader-elect-retry-period=200ms",
			},
		}))
		w := &world{Cluster: cluster}
		c := w.config("default")
		c.Namespace = tenants
		cluster.Create(t, c)
		w.eventually(t, func() error {
			if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil || c.Status.ObservedGeneration == 0 {
				return fmt.Errorf("nobody has looked at the ConferenceConfig of %s (%w)", name, err)
			}
			return nil
		})
	}
	one, two := managers[0], managers[1]
	says := func(m *testkit.ManagerProcess, want int) func() error {
		return func() error {
			for _, url := range []string{m.HealthURL + "/readyz", m.URL + "/readyz"} {
				response, err := http.Get(url)
				if err != nil {
					return err
				}
				_ = response.Body.Close()
				if ready := response.StatusCode == http.StatusOK; ready != (want == http.StatusOK) {
					return fmt.Errorf("%s answers %s", url, response.Status)
				}
			}
			return nil
		}
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "one-leader-election"}}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(binding), binding); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, patience, says(one, http.StatusServiceUnavailable))
	if !strings.Contains(one.Log(), "no leader (Lease ") || !strings.Contains(one.Log(), "forbidden") {
		t.Error("its log does not say why")
	}
	if err := says(two, http.StatusOK)(); err != nil {
		t.Error(err)
	}
	binding.ResourceVersion = ""
	cluster.Create(t, binding)
	testkit.Eventually(t, patience, says(one, http.StatusOK))
}
