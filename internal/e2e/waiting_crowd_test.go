// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/mediaserver"
)

// versionsOf counts the versions that a Meeting has from now on.
func (w *world) versionsOf(t *testing.T, name string) *atomic.Int32 {
	t.Helper()
	watching, err := client.NewWithWatch(w.Config, client.Options{Scheme: testkit.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := watching.Watch(t.Context(), &v1alpha1.MeetingList{}, client.InNamespace(w.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watcher.Stop)
	var count atomic.Int32
	go func() {
		for e := range watcher.ResultChan() {
			if m, ok := e.Object.(*v1alpha1.Meeting); ok && m.Name == name {
				count.Add(1)
			}
		}
	}()
	return &count
}

// TestAThousandPeopleAtTheDoor of two replicas: knocks are no writes, and one write lets all in.
func TestAThousandPeopleAtTheDoor(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	const room, path, crowd = "hall", "/api/v1/meeting/hall", 1000
	fake := mediaserver.New(t)
	fake.Key, fake.Secret = w.livekit.Key, w.livekit.Secret
	w.Kubectl(t, "patch", "mediaserver", "livekit", "--type=merge", "-p", `{"spec":{"apiURL":"`+fake.URL+`"}}`)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	w.a.insist(http.StatusOK, "PATCH", path, map[string]any{"admission": "Ask"})
	m := w.meetingsOf(t, room)[0]
	uid, err := w.uidOf("default")
	if err != nil {
		t.Fatal(err)
	}
	waitingRoom := string(meeting.WaitingRoom(meeting.EngineRoom(uid, string(m.UID))))
	replicas := w.each()
	w.eventually(t, func() error {
		for _, each := range replicas {
			if status, e := each.session(map[string]any{"room": room, "name": "First"}); status != http.StatusAccepted || !fake.Has(waitingRoom) {
				return fmt.Errorf("%d %s", status, e.Error)
			}
		}
		return nil
	})

	versions, began := w.versionsOf(t, m.Name), time.Now()
	waiting := make([]entry, crowd)
	all := func(do func(i int, through account)) {
		t.Helper()
		var group errgroup.Group
		group.SetLimit(8)
		for i := range crowd {
			group.Go(func() error {
				do(i, replicas[i%len(replicas)])
				return nil
			})
		}
		_ = group.Wait()
	}
	all(func(i int, through account) {
		status, e := through.session(map[string]any{"room": room, "name": fmt.Sprint("Guest ", i)})
		if status != http.StatusAccepted {
			t.Errorf("guest %d: %d %s", i, status, e.Error)
			return
		}
		waiting[i] = e
	})
	if t.Failed() {
		t.FailNow()
	}
	for come := 100; come <= crowd; come += 100 {
		for _, e := range waiting[come-100 : come] {
			if err := fake.Join(e.Engine.Token); err != nil {
				t.Fatal(err)
			}
		}
		w.eventually(t, func() error {
			if m := w.meetingsOf(t, room)[0].Status; m.WaitingCount < int32(come) || len(m.Waiting) != 100 {
				return fmt.Errorf("%d wait, of whom %d are listed", m.WaitingCount, len(m.Waiting))
			}
			return nil
		})
	}
	// The room was opened, and then at most one write in two seconds.
	if most := int32(3 + time.Since(began)/(2*time.Second)); versions.Load() > most {
		t.Errorf("%d knocks were %d writes in %s, want at most %d", crowd, versions.Load(), time.Since(began), most)
	}

	before := w.meetingsOf(t, room)[0].Generation
	got := w.a.want(http.StatusOK, "PATCH", path, map[string]any{"admitAll": true})
	if after := w.meetingsOf(t, room)[0].Generation; after != before+1 {
		t.Errorf("all were let in with %d writes: %s", after-before, got.raw)
	}
	if calls := fake.Calls("UpdateParticipant"); calls > crowd/10 { // Some were asked whether they are still there.
		t.Errorf("%d people were told one by one", calls)
	}
	for i, each := range w.each() { // Each replica hears of the write a moment later.
		w.eventually(t, func() error {
			if state := each.stateOf(waiting[i].Session).text("state"); state != "admitted" {
				return fmt.Errorf("replica %d says %s", i, state)
			}
			return nil
		})
	}
	all(func(i int, through account) {
		if state := through.stateOf(waiting[i].Session).text("state"); state != "admitted" {
			t.Errorf("guest %d is %s", i, state)
		}
	})
	in := w.a.mustEnter(map[string]any{"room": room, "name": "Guest", "session": waiting[crowd-1].Session})
	if in.You.Identity != waiting[crowd-1].You.Identity {
		t.Errorf("waited as %s, came as %s", waiting[crowd-1].You.Identity, in.You.Identity)
	}
	fake.Fill(waitingRoom)
	w.eventually(t, func() error {
		if m := w.meetingsOf(t, room)[0].Status; m.WaitingCount != 0 {
			return fmt.Errorf("%d wait", m.WaitingCount)
		}
		return nil
	})
}
