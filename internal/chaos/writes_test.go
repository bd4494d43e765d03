// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/internal/testkit"
)

// slack is how many writes a fault may cost beyond those of the undisturbed story: tries again, and people who come
// and go because they were disconnected.
const slack = 8

// shortly is how many writes of a story get a fault in a short run, which does not try all.
const shortly = 4

// kind is a kind of fault.
type kind struct {
	name string
	// kubernetesOnly says that LiveKit has no such answer.
	kubernetesOnly bool
	// place makes the fault; kill kills the manager and has it started again.
	place func(kill func()) testkit.Fault
}

func always(f testkit.Fault) func(func()) testkit.Fault {
	return func(func()) testkit.Fault { return f }
}

// kinds, in the order in which they are tried.
var kinds = []kind{
	{name: "done, manager killed", place: func(kill func()) testkit.Fault { return testkit.LoseAnswer(kill) }},
	{name: "500, not done", place: always(testkit.Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, nil))},
	{name: "done, answer lost", place: always(testkit.LoseAnswer(func() {}))},
	{name: "done, never answered", place: always(testkit.LoseAnswerSilently)},
	{name: "409", kubernetesOnly: true, place: always(testkit.Refuse(http.StatusConflict, metav1.StatusReasonConflict, nil))},
	{name: "429", place: always(testkit.Refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, http.Header{"Retry-After": {"1"}}))},
	{name: "503", place: always(testkit.Refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, nil))},
	{name: "reset", place: always(testkit.Reset)},
	{name: "hang", place: always(testkit.Hang)},
}

// killer kills the manager, and has it started again by the test.
func (w *world) killer(t *testing.T) (kill func(), done func()) {
	again := make(chan struct{}, 1)
	restarted := make(chan error, 1)
	go func() {
		var err error
		for range again {
			err = w.manager.TryStart()
		}
		restarted <- err
	}()
	var mu sync.Mutex
	over := false
	return func() {
			mu.Lock()
			defer mu.Unlock()
			if over { // The story had ended before this write.
				return
			}
			w.manager.Kill()
			again <- struct{}{}
		}, func() {
			mu.Lock()
			over = true
			mu.Unlock()
			close(again)
			if err := <-restarted; err != nil {
				t.Fatal(err)
			}
		}
}

// TestEveryWriteEveryFault tells each story undisturbed and notes the writes; then again for each write and each fault. It must end
// alike. Each kind of fault has a world of its own, so that a long story does not keep the others waiting.
func TestEveryWriteEveryFault(t *testing.T) {
	t.Parallel()
	cluster := testkit.ControlPlane(t)
	told, placed := stories, kinds
	if !thorough {
		told, placed = stories[:2], kinds[:1]
	}
	for _, s := range told {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, k := range placed {
				t.Run(k.name, func(t *testing.T) {
					t.Parallel()
					own := *cluster
					own.Namespace = cluster.NewNamespace(t)
					newWorld(t, &own, options{change: s.change}).tellWith(t, s, k)
				})
			}
		})
	}
}

// tellWith tells a story undisturbed, and again for each write with a fault of this kind there.
func (w *world) tellWith(t *testing.T, s story, k kind) {
	undisturbed, r, usual := w.tell(t, s, "undisturbed", "", nil)
	writes, _ := r.all()
	t.Logf("%s, %d writes:\n%s\n%+v", usual, len(writes), strings.Join(writes, "\n"), undisturbed)
	if len(undisturbed.Broken) > 0 {
		t.Fatal("without any fault")
	}
	step := 1
	if !thorough {
		step = (len(writes) + shortly - 1) / shortly
	}
	for i := 0; i < len(writes); i += step {
		if at := writes[i]; !k.kubernetesOnly || !strings.HasPrefix(at, "LiveKit") {
			t.Run(at, func(t *testing.T) { w.tellAgain(t, s, fmt.Sprint("run", i), at, k, undisturbed, len(writes), usual) })
		}
	}
}

func (w *world) tellAgain(t *testing.T, s story, room, at string, k kind, undisturbed outcome, writes int, usual time.Duration) {
	kill, done := w.killer(t)
	survived := false
	var took time.Duration
	var met time.Time
	defer func() {
		if met.IsZero() {
			summary.missed.Add(1)
			return
		}
		summary.tried(s.name, k.name, at, survived, max(0, took-usual))
	}()
	o, r, took := w.tell(t, s, room, at, k.place(kill))
	done()
	made, met := r.all()
	if met.IsZero() {
		t.Logf("the write did not come this time: %q", made)
		return
	}
	if diff := cmp.Diff(undisturbed, o); diff != "" {
		t.Errorf("it ended otherwise (-undisturbed +disturbed):\n%s", diff)
	}
	if len(made) > writes+slack {
		t.Errorf("%d writes, undisturbed %d:\n%s", len(made), writes, strings.Join(made, "\n"))
	}
	survived = !t.Failed()
}
