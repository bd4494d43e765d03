// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/source"
	"convene.dev/convene/internal/testkit"
)

// However many files without an end a namespace has, a key that is revoked in another one stops to work after a few evaluations.
func TestHostileFilesHoldUpNoOtherNamespace(t *testing.T) {
	c := testkit.ControlPlane(t)
	calm := c.NewNamespace(t)
	var evaluated atomic.Int32 // Files that are found to take too much. A file that is put off is not.
	counting := func(o *Options) {
		next := o.Evaluate
		o.Evaluate = func(ctx context.Context, namespace, script string, env map[string]string) (source.Settings, error) {
			settings, err := next(ctx, namespace, script, env)
			if fault.Is(err, fault.KindInvalid) {
				evaluated.Add(1)
			}
			return settings, err
		}
	}
	r := newRigWith(t, c, counting, nil, "", calm)
	keys := secret(calm, "file", map[string]string{"config.js": envJS, "API_KEY_SECRET": strong})
	honest := fromConfigJS("file")
	honest.ObjectMeta = metav1.ObjectMeta{Namespace: calm, Name: "honest"}
	r.create(t, keys, honest)
	r.eventually(t, r.accepts(calm, "honest", strong))

	const files, few = 40, 4
	loops := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: "loops"}, Data: map[string]string{}}
	for i := range files {
		loops.Data[fmt.Sprint(i)] = fmt.Sprint("for(;;){} // hostile ", i)
	}
	r.create(t, loops)
	for i := range files {
		hostile := fromConfigJS("cm/loops")
		hostile.ObjectMeta = metav1.ObjectMeta{Namespace: r.Namespace, Name: fmt.Sprint("hostile-", i)}
		hostile.Spec.BaseURL = fmt.Sprintf("https://hostile-%d.example", i)
		hostile.Spec.Source.ConfigJS.ConfigMapKeyRef.Key = fmt.Sprint(i)
		r.create(t, hostile)
	}
	r.eventually(t, func() error {
		if evaluated.Load() == 0 {
			return fmt.Errorf("no file of the other namespace is evaluated")
		}
		return nil
	})
	before := evaluated.Load()
	keys.StringData = map[string]string{"API_KEY_SECRET": strong2}
	if err := r.Client.Update(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, r.accepts(calm, "honest", strong2))
	if n := evaluated.Load() - before; n > few {
		t.Errorf("the revocation has waited for %d files of the other namespace", n)
	}
}

// A tenant whose namespace pauses for ever loses a host that it does not ask for any more.
func TestHostileFilesKeepNothing(t *testing.T) {
	var paused atomic.Bool
	pausing := func(o *Options) {
		o.UnknownHosts.Refuse = true
		o.Evaluate = func(context.Context, string, string, map[string]string) (source.Settings, error) {
			if paused.Load() {
				return source.Settings{}, fault.Unavailable("a pause").Because(source.Pause(time.Hour))
			}
			return source.Settings{KeySecret: strong}, nil
		}
	}
	r := newRigWith(t, testkit.ControlPlane(t), pausing, nil, "")
	hostile := fromConfigJS("file")
	hostile.ObjectMeta = metav1.ObjectMeta{Namespace: r.Namespace, Name: "hostile"}
	hostile.Spec.Hostnames = []string{"taken.example", "kept.example"}
	r.create(t, secret(r.Namespace, "file", map[string]string{"config.js": plainJS}), hostile)
	r.eventually(t, r.accepts(r.Namespace, "hostile", strong))
	paused.Store(true)
	hostile.Spec.Hostnames = []string{"kept.example"}
	if err := r.Client.Update(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, func() error {
		if tenant, _ := r.registry.ForHost("taken.example"); tenant != nil {
			return fmt.Errorf("the host is still answered by %s", tenant.Name)
		}
		kept, _ := r.registry.ForHost("kept.example")
		if err := r.accepts(r.Namespace, "hostile", strong)(); err != nil || kept == nil {
			return fmt.Errorf("what it keeps: its other host %t, %w", kept != nil, err)
		}
		return nil
	})
}
