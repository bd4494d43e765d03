// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// entry is what POST session answers.
type entry struct {
	Session string
	Engine  struct{ URL, Token string }
	Meeting struct {
		Room, URL, Duration string
		ExpiresAt           *time.Time
	}
	You struct {
		Identity, Name                                        string
		Audio, Video, Screen, Chat, Hidden, Notify, Presenter bool
	}
	Waiting struct {
		Why, Message string
		Since        time.Time
	}
	Error, Reason, Redirect string
}

// session asks for a session as the page does.
func (a account) session(body map[string]any) (int, entry) {
	a.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	response, err := cmp.Or(a.client, http.DefaultClient).Post(a.baseURL+"/session", "application/json", bytes.NewReader(encoded))
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var e entry
	if err := json.NewDecoder(response.Body).Decode(&e); err != nil {
		a.t.Fatal(err)
	}
	return response.StatusCode, e
}

// ticket takes the ticket out of a join link.
func (a account) ticket(body map[string]any) string {
	a.t.Helper()
	link, err := url.Parse(a.insist(http.StatusOK, "POST", "/api/v1/join", body).text("join"))
	if err != nil {
		a.t.Fatal(err)
	}
	return link.Query().Get("token")
}

// enter joins with a ticket and stays until the test ends.
func (a account) enter(body map[string]any) (*peer.Peer, entry) {
	a.t.Helper()
	e := a.mustEnter(map[string]any{"room": body["room"], "name": body["name"], "ticket": a.ticket(body)})
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	p, err := peer.Join(ctx, e.Engine.URL, e.Engine.Token)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(p.Close)
	return p, e
}

func TestTwoPeersSeenAndSentAway(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	const room = "board"
	first, _ := w.a.enter(map[string]any{"room": room, "name": "Ada", "duration": "01:00:00", "chat": "true", "notify": "true"})
	second, e := w.a.enter(map[string]any{"room": room, "name": "Grace", "hide": true})
	if !e.You.Hidden || e.Meeting.Duration != "01:00:00" {
		t.Fatalf("Grace entered like this: %+v", e)
	}
	w.eventually(t, func() error {
		m := w.meetingsOf(t, room)[0].Status
		if m.ParticipantCount != 2 || len(m.Participants) != 2 || m.StartTime == nil || !meta.IsStatusConditionTrue(m.Conditions, v1alpha1.ConditionOccupied) {
			return fmt.Errorf("status is %+v", m)
		}
		if m.Participants[0].Name != "Ada" || m.Participants[0].Hidden || !m.Participants[1].Hidden {
			return fmt.Errorf("participants are %+v", m.Participants)
		}
		if got := m.ExpiryTime.Sub(m.StartTime.Time); got != time.Hour {
			return fmt.Errorf("expires %s after the start", got)
		}
		return nil
	})
	w.eventually(t, func() error {
		listed := w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
		if !strings.Contains(listed.raw, `"participants":2`) || !strings.Contains(listed.raw, `"name":"Grace"`) {
			return fmt.Errorf("the listing is %s", listed.raw)
		}
		return nil
	})
	ended := w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, map[string]any{"redirect": "https://example.com/bye"})
	if ended.text("message") != "Meeting ended" {
		t.Fatalf("DELETE answered %s", ended.raw)
	}
	for name, p := range map[string]*peer.Peer{"Ada": first, "Grace": second} {
		select {
		case <-p.Disconnected():
		case <-time.After(patience):
			t.Fatalf("%s is still in", name)
		}
		var state struct {
			Ended    bool
			Redirect string
		}
		if err := json.Unmarshal([]byte(p.Metadata()), &state); err != nil || !state.Ended || state.Redirect != "https://example.com/bye" {
			t.Errorf("%s was told %q (%v)", name, p.Metadata(), err)
		}
	}
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingEnded) })
	if s := w.meetingsOf(t, room)[0].Status; s.ParticipantCount != 0 || len(s.Participants) != 0 {
		t.Fatalf("the status still names people: %+v", s)
	}
}

// A participant who has just come is in no status yet. An end that is confirmed has sent that one off too.
func TestEndRightAfterAnArrival(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	for i := range 3 {
		room := fmt.Sprint("quick ", i)
		w.a.enter(map[string]any{"room": room, "name": "Ada"})
		ended := w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+url.PathEscape(room), nil)
		rooms, err := w.engine(t).Rooms(t.Context(), meeting.AllRooms)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rooms {
			if r.Participants > 0 {
				t.Errorf("%s, but %d are in %s", ended.text("message"), r.Participants, r.Name)
			}
		}
	}
}

func TestAnEmptyMeetingEndsAndItsLinksStartItAgain(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{EmptyTimeout: &metav1.Duration{Duration: time.Second}}
	})
	const room = "again"
	ticket := w.a.ticket(map[string]any{"room": room, "name": "Ada", "roomPassword": "sesame"})
	p, _ := w.a.enter(map[string]any{"room": room, "name": "Ada", "roomPassword": "sesame"})
	w.eventually(t, func() error {
		if w.meetingsOf(t, room)[0].Status.StartTime == nil {
			return errors.New("nobody has been seen")
		}
		return nil
	})
	p.Close()
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingEnded) })
	if m := w.meetingsOf(t, room)[0]; m.Status.EndReason != v1alpha1.EndEmpty {
		t.Fatalf("ended like this: %+v", m.Status)
	}
	if status, e := w.a.session(map[string]any{"room": room, "name": "Eve"}); status != http.StatusUnauthorized || e.Reason != "PasswordRequired" {
		t.Fatalf("without the password: %d %+v", status, e)
	}
	if status, e := w.a.session(map[string]any{"room": room, "name": "Bob", "password": "sesame"}); status != http.StatusOK {
		t.Fatalf("with the password: %d %+v", status, e)
	}
	if status, e := w.a.session(map[string]any{"room": room, "name": "Ada", "ticket": ticket}); status != http.StatusOK {
		t.Fatalf("the old link does not work: %d %+v", status, e)
	}
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
	if status, e := w.a.session(map[string]any{"room": room, "name": "Ada", "ticket": ticket}); status != http.StatusGone || e.Reason != "Ended" {
		t.Fatalf("after an end on request: %d %+v", status, e)
	}
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	if status, e := w.a.session(map[string]any{"room": room, "name": "Ada", "ticket": ticket}); status != http.StatusGone || e.Reason != "Ended" {
		t.Fatalf("in the next meeting of that name: %d %+v", status, e)
	}
}
