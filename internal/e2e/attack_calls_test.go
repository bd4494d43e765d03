// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestAttackActs: a presenter with one link and any number of sessions neither loads etcd nor switches moderation off.
func TestAttackActs(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	// Nothing else writes to this control plane.
	w := newWorldWith(t, testkit.OwnControlPlane(t), testkit.ManagerOptions{})
	const room, sessions, acts = "busy", 4, 400
	eve, e := w.a.enter(map[string]any{"room": room, "name": "Eve"})
	link := func(name string) map[string]any {
		ticket := w.a.ticket(map[string]any{"room": room, "name": name, "token": w.a.presenterToken(name)})
		return map[string]any{"room": room, "ticket": ticket}
	}
	mallory := link("mallory")
	var hostile []entry
	for range sessions {
		session := w.a.mustEnter(mallory)
		session.connect(t)
		hostile = append(hostile, session)
	}
	unseen := w.a.mustEnter(link("trudy"))
	if r := w.a.as(unseen.Session, "POST", "/session/act", map[string]any{"action": "lock"}); r.status != http.StatusForbidden {
		t.Errorf("a presenter who is not in acts: %d %s", r.status, r.raw)
	}
	before := w.writes(t)
	answers, invented := map[int]int{}, 0
	for i := range acts {
		act := map[string]any{"action": []string{"lock", "unlock"}[i/2%2]}
		if i%2 == 0 {
			act = map[string]any{"action": "lockMicrophone", "identity": fmt.Sprintf("user:nobody%0240d", i)}
		}
		r := w.a.as(hostile[i%sessions].Session, "POST", "/session/act", act)
		answers[r.status]++
		if i%2 == 0 && r.status == http.StatusNoContent {
			invented++
		}
	}
	written := w.writes(t).since(before).of("meetings")
	t.Logf("%d acts are answered %v and are %v", acts, answers, written)
	if answers[http.StatusNoContent] == 0 || written.sum() > acts/4 || invented > 0 {
		t.Errorf("%d acts with one link are %d writes, and decide about %d invented users", acts, written.sum(), invented)
	}
	// However the list of decisions became full, and whatever one presenter does meanwhile, another removes anybody.
	w.eventually(t, func() error {
		m := w.meetingsOf(t, room)[0]
		m.Spec.Locked, m.Spec.Participants = nil, nil
		for i := range v1alpha1.MaxParticipantDecisions {
			m.Spec.Participants = append(m.Spec.Participants, v1alpha1.ParticipantDecision{Identity: fmt.Sprintf("p%d-1", i), Muted: true})
		}
		return w.Client.Update(t.Context(), &m)
	})
	_, ada := w.a.enter(map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})
	w.eventually(t, func() error {
		for i := range sessions {
			w.a.as(hostile[i].Session, "POST", "/session/act", map[string]any{"action": "lock"})
		}
		r := w.a.as(ada.Session, "POST", "/session/act", map[string]any{"action": "remove", "identity": e.You.Identity})
		if r.status != http.StatusNoContent {
			return fmt.Errorf("a removal from a full list: %d %s", r.status, r.raw)
		}
		return nil
	})
	select {
	case <-eve.Disconnected():
	case <-time.After(patience):
		t.Error("a participant who was removed stays")
	}
}

// TestAttackQuestions: calls that ask the media server who is in a meeting do not make it list its people again and again, however many
// sessions somebody has.
func TestAttackQuestions(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t, controlled)
	const room, rounds = "asked", 8
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	guest := map[string]any{"room": room, "ticket": w.a.ticket(map[string]any{"room": room, "name": "Eve"})}
	presenter := map[string]any{"room": room, "ticket": w.a.ticket(map[string]any{"room": room, "name": "Mallory", "token": w.a.presenterToken("mallory")})}
	w.a.mustEnter(presenter).connect(t)
	var guests, all []string
	for range 20 {
		guests = append(guests, w.a.mustEnter(guest).Session)
		all = append(all, w.a.mustEnter(presenter).Session)
	}
	all = append(all, guests...)
	w.a.want(http.StatusOK, "PATCH", "/api/v1/meeting/"+room, map[string]any{"admission": "WithPresenter"})
	for i := range 20 {
		_, e := w.a.session(map[string]any{"room": room, "name": fmt.Sprint("Guest ", i)})
		all = append(all, e.Session)
	}
	lists := func() float64 {
		return value(metrics(t, w.manager)["convene_media_server_call_duration_seconds"], map[string]string{"verb": "ListParticipants"})
	}
	attack := func(what string, sessions []string, call func(session string) reply) {
		before, start, answers := lists(), time.Now(), map[int]int{}
		for range rounds {
			var calls sync.WaitGroup
			status := make([]int, len(sessions))
			for i, session := range sessions {
				calls.Go(func() { status[i] = call(session).status })
			}
			calls.Wait()
			for _, s := range status {
				answers[s]++
			}
		}
		// Two rooms are listed, and the controllers look, too.
		made, most := lists()-before, 4*(time.Since(start).Seconds()+1)
		t.Logf("%s: %.0f lists in %s, answered %v", what, made, time.Since(start), answers)
		if made > most {
			t.Errorf("%s: %.0f lists, want %.0f at most", what, made, most)
		}
	}
	attack("who asks for the state", all, func(session string) reply { return w.a.as(session, "GET", "/session", nil) })
	attack("who is not in and writes", guests, func(session string) reply {
		return w.a.as(session, "POST", "/session/chat", map[string]any{"text": "hello"})
	})
	refused := 0
	for range 200 {
		if w.a.as(all[0], "GET", "/session", nil).status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 100 {
		t.Errorf("of 200 questions about one session, %d are refused", refused)
	}
}
