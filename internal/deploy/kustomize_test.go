// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
)

// TestArgoCDByTheBook adds our keys to settings that are there, and leaves the others.
func TestArgoCDByTheBook(t *testing.T) {
	c := testkit.ControlPlane(t)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "argocd-cm"}, Data: map[string]string{"url": "https://cd.example.com"}}
	for _, o := range []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "argocd"}}, settings} {
		if err := c.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	c.Recipe(t, "argocd", testkit.RecipeOptions{})
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(settings), settings); err != nil {
		t.Fatal(err)
	}
	if len(settings.Data) != 4 || settings.Data["url"] != "https://cd.example.com" {
		t.Errorf("Argo CD's settings are %v", settings.Data)
	}
}
