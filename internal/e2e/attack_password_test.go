// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// keepsake is what a participant of one meeting still holds when the next meeting of the room begins.
type keepsake struct {
	ticket string
	// guest came by the link of the room, presenter with a ticket that makes a presenter.
	guest, presenter entry
}

// collectKeepsake has two participants ask for a session in a room. They connect only if the meeting is to end Empty.
func collectKeepsake(w *world, room, password string, end v1alpha1.EndReason) keepsake {
	options := map[string]any{"room": room, "name": "Eve", "roomPassword": password, "presenter": true, "token": map[string]any{"username": "eve", "password": "x", "presenter": true}}
	if end == v1alpha1.EndExpired {
		options["duration"] = "00:00:05"
	}
	k := keepsake{ticket: w.a.ticket(options)}
	k.presenter = w.a.mustEnter(map[string]any{"ticket": k.ticket})
	k.guest = w.a.mustEnter(map[string]any{"room": room, "name": "Guest", "password": password})
	return k
}

// endedBy waits until the room's meeting has ended by itself.
func (w *world) endedBy(t *testing.T, room string, reason v1alpha1.EndReason) {
	t.Helper()
	w.eventually(t, func() error {
		meetings := w.meetingsOf(t, room)
		if err := phaseIs(meetings, v1alpha1.MeetingEnded); err != nil {
			return err
		}
		if got := meetings[0].Status.EndReason; got != reason {
			return fmt.Errorf("it ended %s, want %s", got, reason)
		}
		return nil
	})
}

// TestANewPasswordHoldsAgainstOldLinksAndSessions: a meeting that the API makes in a room after another one is closed to all
// that the last one gave out, unless its password is the same. No session makes a presenter of the next meeting.
func TestANewPasswordHoldsAgainstOldLinksAndSessions(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		second := &metav1.Duration{Duration: time.Second}
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{EmptyTimeout: second, UnjoinedTimeout: &metav1.Duration{Duration: 8 * time.Second}}
	})
	atOnce := semaphore.NewWeighted(4) // each hashes passwords, which takes a core
	for _, end := range []v1alpha1.EndReason{v1alpha1.EndEmpty, v1alpha1.EndUnjoined, v1alpha1.EndExpired} {
		for _, change := range []struct {
			name, from, to string
			// later says that POST join sets the new password, in a meeting that was made without one.
			later bool
			opens bool
		}{
			{name: "from none to a password", to: "second"},
			{name: "from one password to another", from: "first", to: "second"},
			{name: "from a password to none", from: "first"},
			{name: "from none to a password that a join sets", to: "second", later: true},
			{name: "none twice", opens: true},
			{name: "the same password twice", from: "first", to: "first", opens: true},
		} {
			t.Run(string(end)+"/"+change.name, func(t *testing.T) {
				t.Parallel()
				if err := atOnce.Acquire(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				defer atOnce.Release(1)
				on := *w
				on.a = w.a.on(t)
				room := fmt.Sprintf("%s, %s", end, change.name)
				k := collectKeepsake(&on, room, change.from, end)
				if end == v1alpha1.EndEmpty {
					p := k.guest.connect(t)
					on.eventually(t, on.hasPeople(room, 1))
					p.Close()
				}
				on.endedBy(t, room, end)
				next := map[string]any{"room": room, "roomPassword": change.to}
				if change.later {
					on.a.insist(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
					next["name"] = "Ada"
					on.a.ticket(next)
				} else {
					on.a.insist(http.StatusOK, "POST", "/api/v1/meeting", next)
				}
				k.tryAgain(t, on.a, room, change.opens)
			})
		}
	}
}

// tryAgain shows all of it in the next meeting of the room.
func (k keepsake) tryAgain(t *testing.T, a account, room string, opens bool) {
	t.Helper()
	for reason, body := range map[string]map[string]any{
		"the ticket":            {"ticket": k.ticket},
		"the guest's session":   {"room": room, "name": "Guest", "session": k.guest.Session},
		"the presenter session": {"room": room, "name": "Eve", "session": k.presenter.Session},
	} {
		if !opens {
			a.refused(reason, body, "Ended", "PasswordRequired")
			continue
		}
		e := a.mustEnter(body)
		if byTicket := body["ticket"] != nil; e.You.Presenter != byTicket {
			t.Errorf("%s: presenter is %v", reason, e.You.Presenter)
		}
	}
	if state := a.as(k.presenter.Session, "GET", "/session", nil); state.text("state") != "ended" {
		t.Errorf("the presenter session of the last meeting: %s", state.raw)
	}
	if r := a.as(k.presenter.Session, "POST", "/session/act", `{"action":"end"}`); r.status != http.StatusGone {
		t.Errorf("the last meeting's presenter ends the next one: %d %s", r.status, r.raw)
	}
}

// TestAMuteOutlastsTheRestartOfARoom: a muted participant who waits until the meeting has ended Empty is muted in the one
// that the same link starts.
func TestAMuteOutlastsTheRestartOfARoom(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{EmptyTimeout: &metav1.Duration{Duration: time.Second}}
	})
	const room = "loud"
	ticket := w.a.ticket(map[string]any{"room": room, "name": "Eve", "audio": true})
	eve := w.a.mustEnter(map[string]any{"ticket": ticket})
	inside := eve.connect(t)
	presenter, ada := w.a.enter(map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})
	if r := w.a.as(ada.Session, "POST", "/session/act", map[string]any{"action": "lockMicrophone", "identity": eve.You.Identity}); r.status != http.StatusNoContent {
		t.Fatalf("mute: %d %s", r.status, r.raw)
	}
	w.eventually(t, w.hasPeople(room, 2))
	inside.Close()
	presenter.Close()
	w.endedBy(t, room, v1alpha1.EndEmpty)
	var back entry
	w.eventually(t, func() error {
		status, e := w.a.session(map[string]any{"ticket": ticket})
		if back = e; status != http.StatusOK {
			return fmt.Errorf("%d %s", status, e.Error)
		}
		return nil
	})
	if back.You.Audio {
		t.Error("they come back with their microphone on")
	}
	if err := publishVoice(t, back.connect(t)); err == nil {
		t.Error("they speak again")
	} else if !errors.Is(err, peer.ErrNotAllowed) {
		t.Fatal(err)
	}
}
