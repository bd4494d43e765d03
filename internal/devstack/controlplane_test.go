// SPDX-License-Identifier: Apache-2.0

package devstack_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
)

func TestDataSurvivesKill(t *testing.T) {
	c := testkit.OwnControlPlane(t)
	written := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "kept"},
		Data:       map[string]string{"a": "b"},
	}
	if err := c.Client.Create(t.Context(), written); err != nil {
		t.Fatal(err)
	}

	c.KillAPIServer()
	c.KillEtcd()
	c.StartEtcd(t)
	c.StartAPIServer(t)

	var read corev1.ConfigMap
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(written), &read); err != nil {
		t.Fatal(err)
	}
	if read.UID != written.UID || read.Data["a"] != "b" {
		t.Fatalf("wrote %v, read %v", written, read)
	}
	if got := c.Kubectl(t, "get", "configmap", "kept", "-o", "jsonpath={.data.a}"); got != "b" {
		t.Fatalf("kubectl reads %q", got)
	}
}
