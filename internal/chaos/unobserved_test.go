// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestUnobserved does to Meetings all that can be done to them while no manager runs.
func TestUnobserved(t *testing.T) {
	t.Parallel()
	cluster := *testkit.ControlPlane(t)
	w := newWorld(t, &cluster, options{})
	guests := map[string]*guest{}
	was := map[string]types.UID{}
	for _, room := range []string{"kept", "deleted", "replaced", "requested"} {
		w.Create(t, w.byHand(room))
		guests[room] = w.guest(t, room, "")
	}
	for room := range guests {
		w.eventually(t, w.occupied(room, 1))
		m, err := w.ofRoom(room)
		if err != nil {
			t.Fatal(err)
		}
		was[room] = m.UID
	}
	w.manager.Kill()

	// Comes and goes.
	w.Create(t, w.byHand("never-seen"))
	w.delete(t, w.byHand("never-seen"))
	// Comes and is asked to end, comes and is over.
	w.Create(t, w.byHand("ended-unseen"))
	w.patch(t, w.byHand("ended-unseen"), `{"spec":{"end":{}}}`)
	w.Create(t, w.byHand("over-unseen", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1s" }))
	// With people in them.
	w.patch(t, w.byHand("requested"), `{"spec":{"end":{}}}`)
	w.delete(t, w.byHand("deleted"))
	w.delete(t, w.byHand("replaced"))
	w.Create(t, w.byHand("replaced"))

	back := time.Now()
	w.manager.Start(t)
	for _, room := range []string{"deleted", "replaced", "requested"} {
		select {
		case <-guests[room].over:
		case <-time.After(patience):
			t.Errorf("the guest of %s is not told that it is over", room)
		}
	}
	w.eventually(t, func() error {
		all, err := w.meetings()
		if err != nil {
			return err
		}
		live := map[string]types.UID{}
		for i := range all {
			m := &all[i]
			if m.Status.Phase != v1alpha1.MeetingActive {
				return fmt.Errorf("%s is %s", m.Name, m.Status.Phase)
			}
			live[m.Name] = m.UID
		}
		if len(live) != 2 || live["kept"] != was["kept"] || live["replaced"] == "" || live["replaced"] == was["replaced"] {
			return fmt.Errorf("live are %v, before %v", live, was)
		}
		return errors.Join(w.occupied("kept", 1)(), w.quiet())
	})
	took := time.Since(back)
	for room, reason := range map[string]v1alpha1.EndReason{
		"ended-unseen": v1alpha1.EndRequested, "over-unseen": v1alpha1.EndExpired, "requested": v1alpha1.EndRequested,
	} {
		lives := w.history.of(room)
		if len(lives) != 1 || lives[0].last().Status.EndReason != reason {
			t.Errorf("%s: %d lives, the first ended like this: %+v", room, len(lives), lives[0].last().Status)
		}
	}
	w.unbroken(t)
	summary.tried("changes with no manager", "created, ended, expired, deleted, replaced", "", !t.Failed(), took)
}

func (w *world) delete(t testing.TB, o client.Object) {
	t.Helper()
	if err := w.Client.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// TestRestartChangesNothing: that a manager begins is no reason to write anything.
func TestRestartChangesNothing(t *testing.T) {
	t.Parallel()
	cluster := *testkit.ControlPlane(t)
	w := newWorld(t, &cluster, options{})
	w.Create(t, w.byHand("standing"))
	w.eventually(t, w.occupied("standing", 0))
	w.eventually(t, w.quiet)
	w.still(t)
	r := w.record("", nil)
	w.manager.Kill()
	w.manager.Start(t)
	pause(t.Context(), staysFor)
	if writes, _ := r.all(); len(writes) > 0 {
		t.Errorf("a restart wrote %q", writes)
	}
	summary.tried("nothing changes", "kill -9 of the manager", "", !t.Failed(), 0)
}
