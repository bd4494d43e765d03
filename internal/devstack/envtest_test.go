// SPDX-License-Identifier: Apache-2.0

package devstack_test

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
)

// TestEnvironment kills etcd and kube-apiserver and starts them again: their data survive.
func TestEnvironment(t *testing.T) {
	binaries, err := devstack.FindBinaries(testkit.Root(t))
	must(t, err)
	ports, err := devstack.RandomPorts(2)
	must(t, err)
	e, err := devstack.NewEnvironment(binaries, t.TempDir(), ports[0], ports[1])
	must(t, err)
	t.Cleanup(func() {
		must(t, e.KillAPIServer())
		must(t, e.KillEtcd())
	})
	config, err := e.Start()
	must(t, err)
	must(t, e.Ended())
	c, err := client.New(config, client.Options{})
	must(t, err)
	written := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept"}, Data: map[string]string{"a": "b"}}
	must(t, c.Create(t.Context(), written))

	must(t, e.KillAPIServer())
	if err := e.Ended(); err == nil || !strings.Contains(err.Error(), "kube-apiserver ended") {
		t.Errorf("kube-apiserver was killed: %v", err)
	}
	must(t, e.KillEtcd())
	if err := e.Ended(); err == nil || !strings.Contains(err.Error(), "etcd ended") {
		t.Errorf("etcd was killed: %v", err)
	}
	must(t, e.StartEtcd())
	must(t, e.StartAPIServer())
	must(t, e.Ended())

	var read corev1.ConfigMap
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(written), &read))
	if read.UID != written.UID || read.Data["a"] != "b" {
		t.Errorf("wrote %v, read %v", written, read)
	}

	// Every user of the machine reaches the port of etcd.
	answer, err := http.Post(e.ControlPlane.Etcd.URL.String()+"/v3/kv/range", "application/json", strings.NewReader(`{"key":"AA==","range_end":"AA=="}`))
	must(t, err)
	must(t, answer.Body.Close())
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("etcd answers everybody: %s", answer.Status)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
