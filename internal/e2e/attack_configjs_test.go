// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestAttackConfigJS: a tenant with many files without an end keeps no revoked key of another tenant working.
func TestAttackConfigJS(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	// The manager serves all namespaces of it.
	cluster := testkit.OwnControlPlane(t)
	cluster.Secret(t, v1alpha1.UsedByConferenceConfig, "file", map[string]string{
		"config.js": "module.exports = {api: {keySecret: process.env.KEY}}", "KEY": "key-of-tenant-a-0123456789",
	})
	everywhere := testkit.ManagerOptions{Args: []string{"--namespace=", "--leader-election-namespace=" + cluster.Namespace}}
	w := newWorldWith(t, cluster, everywhere, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.API = nil
		a.Spec.Source = &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{SecretKeyRef: &v1alpha1.SecretKeyReference{Name: "file", Key: "config.js"}}}
	})
	w.a.want(http.StatusOK, "GET", "/api/v1/stats", nil)

	const files, few = 40, 6
	hostile := w.NewNamespace(t)
	loops := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: hostile, Name: "loops"}, Data: map[string]string{}}
	for i := range files {
		loops.Data[fmt.Sprint(i)] = fmt.Sprint("for(;;){} //", i)
	}
	w.Create(t, loops)
	for i := range files {
		w.Create(t, &v1alpha1.ConferenceConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: hostile, Name: fmt.Sprint("hostile-", i)},
			Spec: v1alpha1.ConferenceConfigSpec{
				Variant: v1alpha1.VariantA, BaseURL: fmt.Sprintf("https://hostile-%d.example", i),
				Source: &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "loops", Key: fmt.Sprint(i)}}},
			},
		})
	}
	w.eventually(t, func() error {
		if w.evaluatedIn(t, hostile) == 0 {
			return fmt.Errorf("no hostile file is evaluated")
		}
		return nil
	})
	w.Kubectl(t, "patch", "secret", "file", "--patch", `{"stringData":{"KEY":"another-key-of-tenant-a-0123"}}`)
	w.eventually(t, func() error {
		if r := w.a.call("GET", "/api/v1/stats", nil); r.status != http.StatusForbidden {
			return fmt.Errorf("with the revoked key: %d", r.status)
		}
		return nil
	})
	if n := w.evaluatedIn(t, hostile); n > few {
		t.Errorf("the revocation has waited for %d files of another tenant", n)
	}
	w.a.with("another-key-of-tenant-a-0123").want(http.StatusOK, "GET", "/api/v1/stats", nil)
}

// evaluatedIn is how many ConferenceConfigs of a namespace report that their file was evaluated, and takes too much.
func (w *world) evaluatedIn(t testing.TB, namespace string) (n int) {
	t.Helper()
	var all v1alpha1.ConferenceConfigList
	if err := w.Client.List(t.Context(), &all, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		for _, c := range all.Items[i].Status.Conditions {
			if c.Type == v1alpha1.ConditionAPIKeysResolved && strings.Contains(c.Message, "takes too much time or memory") {
				n++
			}
		}
	}
	return n
}
