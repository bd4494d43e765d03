// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/source"
	"convene.dev/convene/internal/testkit"
)

// Status and labels are no reason to resolve again: each is written many times. Nor is it to hear again of what has been
// read already, as after every break of the connection to the API server.
func TestOnlyChangesAreTold(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	config := r.config(r.Namespace, "a")
	r.create(t, secret(r.Namespace, "keys", map[string]string{"current": strong}), config)
	r.eventually(t, r.accepts(r.Namespace, "a", strong))
	name := client.ObjectKeyFromObject(config)
	first, _ := r.registry.Get(name)
	config.Status.Meetings = 3
	if err := r.Client.Status().Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	config.Labels = map[string]string{"x": "y"}
	if err := r.Client.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	r.registry.objectChanged(object{"secrets", r.Namespace, "keys"})
	r.registry.changed(config)
	// Each of these is worked on by itself, behind anything that the first has put into the queue.
	for _, behind := range []string{"b", "c"} {
		r.create(t, r.config(r.Namespace, behind))
		r.eventually(t, r.accepts(r.Namespace, behind, strong))
	}
	if now, _ := r.registry.Get(name); now != first {
		t.Error("a was resolved again")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told["a"] != 1 {
		t.Errorf("a was told of %d times", r.told["a"])
	}
}

// A file that takes long to evaluate holds up its own tenant alone.
func TestSlowFileHoldsUpNoOther(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := func(o *Options) {
		o.Evaluate = func(ctx context.Context, _, _ string, _ map[string]string) (source.Settings, error) {
			close(begun)
			select {
			case <-proceed:
			case <-ctx.Done():
			}
			return source.Settings{KeySecret: strong}, nil
		}
	}
	r := newRigWith(t, testkit.ControlPlane(t), slow, nil, "")
	config := fromConfigJS("cm/file")
	config.ObjectMeta = metav1.ObjectMeta{Namespace: r.Namespace, Name: "slow"}
	file := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: "file"}, Data: map[string]string{"config.js": plainJS}}
	r.create(t, file, config)
	<-begun
	keys := secret(r.Namespace, "keys", map[string]string{"current": strong})
	r.create(t, keys, r.config(r.Namespace, "quick"))
	r.eventually(t, r.accepts(r.Namespace, "quick", strong))
	keys.StringData = map[string]string{"current": strong2}
	if err := r.Client.Update(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, r.accepts(r.Namespace, "quick", strong2))
	if err := r.accepts(r.Namespace, "slow", strong)(); err == nil {
		t.Error("the slow one is there before its file has been evaluated")
	}
	close(proceed)
	r.eventually(t, r.accepts(r.Namespace, "slow", strong))
}
