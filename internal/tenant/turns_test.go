// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/source"
	"convene.dev/convene/internal/source/sandbox"
	"convene.dev/convene/internal/testkit"
)

// record is what the processes of a sandbox were asked to evaluate, one file a line.
type record string

func (r record) sandbox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.New("/bin/sh", "-c", `input=$(cat); printf '%s\n' "$input" >>"$0"; printf '%s' "$input" | "$1" `+sandbox.Argument, string(r), program)
}

// count is how many files with a word in it were evaluated.
func (r record) count(t testing.TB, word string) int {
	t.Helper()
	text, err := os.ReadFile(string(r))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), word)
}

// However many files without an end a namespace has, a key that is revoked in another one stops to work after a few evaluations.
func TestHostileFilesHoldUpNoOtherNamespace(t *testing.T) {
	c := testkit.ControlPlane(t)
	calm := c.NewNamespace(t)
	evaluated := record(filepath.Join(t.TempDir(), "record"))
	r := newRigWith(t, c, func(o *Options) { o.Evaluate = evaluated.sandbox(t).EvaluateConfigJS }, nil, "", calm)
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
		if n := len(r.registry.All()); n != files+1 && evaluated.count(t, "hostile") < 2 {
			return fmt.Errorf("%d tenants are there", n)
		}
		return nil
	})
	before := evaluated.count(t, "hostile")
	keys.StringData = map[string]string{"API_KEY_SECRET": strong2}
	if err := r.Client.Update(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, r.accepts(calm, "honest", strong2))
	if n := evaluated.count(t, "hostile") - before; n > few {
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
		if tenant, ok := r.registry.ForHost("taken.example"); ok {
			return fmt.Errorf("the host is still answered by %s", tenant.Name)
		}
		_, ok := r.registry.ForHost("kept.example")
		if err := r.accepts(r.Namespace, "hostile", strong)(); err != nil || !ok {
			return fmt.Errorf("what it keeps: its other host %t, %w", ok, err)
		}
		return nil
	})
}
