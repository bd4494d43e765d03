// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"errors"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// TestALeaderThatStartsKnowsWhereMeetingsAre: while no manager runs, a media server is taken out of spec.mediaRefs, and one of the two
// meetings there is ended. The manager that starts closes that room; the participant of the other meeting stays.
func TestALeaderThatStartsKnowsWhereMeetingsAre(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t, func(a, _ *v1alpha1.ConferenceConfig) { a.Spec.MediaRefs = testkit.MediaRefs("livekit", "second") })
	second := w.secondMediaServer(t)
	people := map[string]*peer.Peer{}
	for _, room := range []string{"ends", "stays"} {
		m := w.meeting(room)
		m.Annotations = map[string]string{v1alpha1.AnnotationMediaServer: w.Namespace + "/livekit"}
		w.Create(t, m)
		w.eventually(t, w.hasPhase(room, v1alpha1.MeetingActive))
		ada := w.a.mustEnter(map[string]any{"room": room, "name": "Ada"})
		ada.Engine.URL = w.livekit.URL // Past the gateway: a connection through it ends with the manager.
		people[room] = ada.connect(t)
		w.eventually(t, w.hasPeople(room, 1))
		w.eventually(t, w.openOn(w.livekit, room))
	}

	w.manager.Kill()
	w.Kubectl(t, "patch", "conferenceconfig", "default", "--type=merge", "-p", `{"spec":{"mediaRefs":[{"name":"second"}]}}`)
	w.Kubectl(t, "patch", "meeting", w.meetingsOf(t, "ends")[0].Name, "--type=merge", "-p", `{"spec":{"end":{}}}`)
	w.manager.Start(t)

	select {
	case <-people["ends"].Disconnected():
	case <-time.After(patience):
		t.Error("the participant of the meeting that ended is still in")
	}
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, "ends"), v1alpha1.MeetingEnded) })
	w.eventually(t, func() error {
		if w.openOn(w.livekit, "ends")() == nil {
			return errors.New("the room of the meeting that ended is still open")
		}
		return nil
	})
	if err := w.placed("ends", "livekit"); err != nil {
		t.Error("after its end: ", err)
	}

	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, "stays"), v1alpha1.MeetingPending) })
	if m := w.meetingsOf(t, "stays")[0]; m.Status.ParticipantCount != 1 {
		t.Errorf("the meeting that goes on has %d participants", m.Status.ParticipantCount)
	}
	if err := w.placed("stays", "livekit"); err != nil {
		t.Error(err)
	}
	select {
	case <-people["stays"].Disconnected():
		t.Error("the participant of the meeting that goes on is out")
	default:
	}
	people["stays"].Close()
	w.eventually(t, func() error { return w.placed("stays", "second") })
	back, _ := w.a.enter(map[string]any{"room": "stays", "name": "Ada"})
	defer back.Close()
	w.eventually(t, w.openOn(second, "stays"))
}
