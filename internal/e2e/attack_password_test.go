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

// TestAPasswordThatTheClusterHasHolds: whoever changes a password, or adds one, in the Secret or in the Meeting, keeps out everybody who was
// asked for the former, in the meeting that goes on and through every replica. Those who know it come in and stay.
func TestAPasswordThatTheClusterHasHolds(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	data := func(password string) string { return `{"stringData":{"password":"` + password + `"}}` }
	for room, change := range map[string]struct {
		from string
		by   func(meeting, secret string)
	}{
		"changed in its Secret": {"first", func(_, secret string) { w.Kubectl(t, "patch", "secret", secret, "--type=merge", "-p", data("second")) }},
		"made once more": {"first", func(_, secret string) {
			w.Kubectl(t, "delete", "secret", secret)
			w.Secret(t, v1alpha1.UsedByMeeting, secret, map[string]string{"password": "second"})
		}},
		"in another Secret": {"first", func(meeting, _ string) { w.namesSecret(t, meeting, "another", "second") }},
		"added":             {"", func(meeting, _ string) { w.namesSecret(t, meeting, "added", "second") }},
	} {
		ticket := w.a.ticket(map[string]any{"room": room, "name": "Ada", "roomPassword": change.from})
		guest := map[string]any{"room": room, "name": "Guest", "password": change.from}
		in := w.a.mustEnter(guest)
		m := w.meetingsOf(t, room)[0]
		secret := ""
		if ref := m.Spec.PasswordSecretRef; ref != nil {
			secret = ref.Name
		}
		change.by(m.Name, secret)
		for _, each := range w.each() {
			for what, body := range map[string]map[string]any{
				"a link": {"ticket": ticket}, "a session": {"room": room, "name": "Guest", "session": in.Session},
				"the former password": guest, "no password": {"room": room, "name": "Guest"},
			} {
				each.refused(room+": "+what+" of before", body, "PasswordRequired", "WrongPassword")
			}
			now := each.mustEnter(map[string]any{"room": room, "name": "Guest", "session": in.Session, "password": "second"})
			each.mustEnter(map[string]any{"room": room, "name": "Guest", "session": now.Session})
			each.mustEnter(map[string]any{"ticket": each.ticket(map[string]any{"room": room, "name": "Ada", "roomPassword": "second"})})
		}
	}
}

// namesSecret has a Meeting name a Secret with a password, as a person does.
func (w *world) namesSecret(t *testing.T, meeting, secret, password string) {
	t.Helper()
	w.Secret(t, v1alpha1.UsedByMeeting, secret, map[string]string{"password": password})
	w.Kubectl(t, "patch", "meeting", meeting, "--type=merge", "-p", `{"spec":{"passwordSecretRef":{"name":"`+secret+`","key":"password"}}}`)
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
