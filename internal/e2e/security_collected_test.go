// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// collection is everything that opened a room in a run.
type collection struct {
	tickets, sessions, access []string
}

func (c *collection) add(ticket string, e entry) {
	c.tickets = append(c.tickets, ticket)
	c.sessions = append(c.sessions, e.Session)
	c.access = append(c.access, e.Engine.Token)
}

// collect has people come to a room in every way, and keeps what they came with.
func collect(t *testing.T, a account, room string) *collection {
	t.Helper()
	c := &collection{}
	var inside []*peer.Peer
	for i, options := range []map[string]any{
		{"name": "Guest"}, {"name": "Watcher", "hide": true}, {"name": "Presenter", "token": map[string]any{"username": "ada", "password": "x", "presenter": true}},
		{"name": "With a picture", "avatar": "https://example.com/a.png", "chat": false, "notify": true, "duration": "01:00:00"},
	} {
		options["room"] = room
		ticket := a.ticket(options)
		e := a.mustEnter(map[string]any{"ticket": ticket})
		c.add(ticket, e)
		inside = append(inside, e.connect(t))
		// Back again, as after a reload: another access token of the same person.
		c.add(ticket, a.mustEnter(map[string]any{"ticket": ticket, "session": e.Session}))
		if i == 0 {
			c.add(ticket, a.mustEnter(map[string]any{"room": room, "name": "By the room's link"}))
			c.add(ticket, a.mustEnter(map[string]any{"room": room, "name": "By token", "token": a.presenterToken("ada")}))
		}
	}
	t.Cleanup(func() {
		for _, p := range inside {
			p.Close()
		}
	})
	return c
}

// opensNothing tries all of it at the gateway.
func (c *collection) opensNothing(t *testing.T, a account, when string) {
	t.Helper()
	for i := range c.tickets {
		a.refused(fmt.Sprintf("ticket %d %s", i, when), map[string]any{"ticket": c.tickets[i]}, "Ended")
		a.refused(fmt.Sprintf("ticket and session %d %s", i, when), map[string]any{"ticket": c.tickets[i], "session": c.sessions[i]}, "Ended")
		if state := a.as(c.sessions[i], "GET", "/session", nil); state.text("state") != "ended" {
			t.Errorf("session %d %s: %s", i, when, state.raw)
		}
		if r := a.as(c.sessions[i], "POST", "/session/act", `{"action":"end"}`); r.status != http.StatusGone {
			t.Errorf("an act of session %d %s: %d %s", i, when, r.status, r.raw)
		}
		if status := a.door(c.access[i]); status != http.StatusGone {
			t.Errorf("access token %d at the gateway %s: %d", i, when, status)
		}
		if getsIn(t, a.baseURL+"/media-server", c.access[i]) {
			t.Errorf("access token %d gets in through the gateway %s", i, when)
		}
	}
}

// opensNothingAt tries all of it at LiveKit itself. While a room is being closed LiveKit lets people in, and out with it.
func (c *collection) opensNothingAt(t *testing.T, livekit, when string) {
	t.Helper()
	for i, token := range c.access {
		if status := door(t, livekit, token); status == http.StatusOK {
			t.Errorf("access token %d at LiveKit itself %s: %d", i, when, status)
		}
		if getsIn(t, livekit, token) {
			t.Errorf("access token %d gets in at LiveKit itself %s", i, when)
		}
	}
}

// TestNothingCollectedOpensAnythingAgain: every ticket, session and access token of a run is tried after the end, and
// while the next meeting of the room is under way, at the gateway and past it.
func TestNothingCollectedOpensAnythingAgain(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	const room = "board"
	first := collect(t, w.a, room)
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
	first.opensNothing(t, w.a, "after the end")
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingEnded) })
	first.opensNothing(t, w.a, "after everybody is out")
	first.opensNothingAt(t, w.livekit.URL, "after everybody is out")

	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	first.opensNothing(t, w.a, "in the next meeting, before anybody is in")
	newcomer, _ := w.a.enter(map[string]any{"room": room, "name": "Newcomer"})
	first.opensNothing(t, w.a, "in the next meeting, with a participant in")
	first.opensNothingAt(t, w.livekit.URL, "in the next meeting, with a participant in")
	w.eventually(t, w.hasPeople(room, 1))
	if others := newcomer.Others(); len(others) > 0 {
		t.Errorf("the newcomer has seen %v", others)
	}
	w.eventually(t, func() error {
		listed := w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
		if meetings := listed.body["meetings"].([]any); len(meetings) != 1 || meetings[0].(map[string]any)["participants"] != 1.0 {
			return fmt.Errorf("the listing: %s", listed.raw)
		}
		return nil
	})
	rooms, err := w.engine(t).Rooms(t.Context(), "")
	if err != nil || len(rooms) != 1 {
		t.Errorf("LiveKit has %v (%v)", rooms, err)
	}
}

// publishVoice is refused where there is no right to speak.
func publishVoice(t *testing.T, p *peer.Peer) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := p.Publish(ctx, peer.Microphone)
	return err
}

// uidOf is the UID of a ConferenceConfig.
func (w *world) uidOf(config string) (string, error) {
	var c v1alpha1.ConferenceConfig
	err := w.Client.Get(context.Background(), w.key(config), &c)
	return string(c.UID), err
}

// TestPresentersDecisionsHoldPastTheGateway: a browser that gets to LiveKit past the gateway all the same can come back with an access
// token that it cannot take back. A removed participant is sent away again on sight, and a muted one is not heard.
func TestPresentersDecisionsHoldPastTheGateway(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	const room = "board"
	_, paula := w.a.enter(map[string]any{"room": room, "name": "Paula", "token": map[string]any{"username": "ada", "password": "x", "presenter": true}})
	ticket := w.a.ticket(map[string]any{"room": room, "name": "Eve", "audio": true})
	eve := w.a.mustEnter(map[string]any{"ticket": ticket})
	inside := eve.connect(t)
	act := func(action string) {
		t.Helper()
		if r := w.a.as(paula.Session, "POST", "/session/act", map[string]any{"action": action, "identity": eve.You.Identity}); r.status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", action, r.status, r.raw)
		}
	}

	act("lockMicrophone")
	back := w.a.mustEnter(map[string]any{"ticket": ticket, "session": eve.Session})
	if back.You.Audio || back.You.Identity != eve.You.Identity {
		t.Errorf("after a mute they are let in like this: %+v", back.You)
	}
	again := back.connect(t)
	if err := publishVoice(t, again); !errors.Is(err, peer.ErrNotAllowed) {
		t.Errorf("a muted one who comes back can speak: %v", err)
	}
	inside.Close()
	again.Close()
	// Past the gateway, with what was given before the mute.
	loud := entry{}
	loud.Engine.URL, loud.Engine.Token = w.livekit.URL, eve.Engine.Token
	past := loud.connect(t)
	_ = publishVoice(t, past) // It is taken from them now or in a moment.
	config, err := w.uidOf("default")
	if err != nil {
		t.Fatal(err)
	}
	inEngine := meeting.EngineRoom(config, string(w.meetingsOf(t, room)[0].UID))
	w.eventually(t, func() error {
		people, err := w.engine(t).Participants(t.Context(), inEngine)
		for _, p := range people {
			if string(p.Identity) == eve.You.Identity && p.Audio {
				return fmt.Errorf("they are heard: %+v", p)
			}
		}
		return err
	})

	act("remove")
	<-past.Disconnected()
	w.a.refused("the ticket of a removed participant", map[string]any{"ticket": ticket}, "NotAllowed")
	w.a.refused("their session", map[string]any{"ticket": ticket, "session": eve.Session}, "NotAllowed")
	for _, token := range []string{eve.Engine.Token, back.Engine.Token} {
		if status := w.a.door(token); status != http.StatusForbidden {
			t.Errorf("their access token at the gateway: %d", status)
		}
		loud.Engine.Token = token
		loud.isSentAway(t)
	}
}

// isSentAway is for a token that LiveKit cannot take back: it lets the participant in, and the controllers remove them on sight,
// perhaps before they are in.
func (e entry) isSentAway(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := peer.Join(ctx, e.Engine.URL, e.Engine.Token)
	if errors.Is(err, peer.ErrSentAway) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	select {
	case <-p.Disconnected():
	case <-ctx.Done():
		t.Error("a participant who was removed stays in past the gateway")
	}
}
