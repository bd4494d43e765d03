// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
)

// TestAttackActs: a presenter with one link and any number of sessions neither loads etcd nor switches moderation off.
func TestAttackActs(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	// Nothing else writes to this control plane.
	w := newWorldWith(t, testkit.OwnControlPlane(t, func(p *devstack.ControlPlane) { p.NoFsync = true }), testkit.ManagerOptions{})
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
			act = map[string]any{"action": "mute", "identity": fmt.Sprintf("user:nobody%0240d", i)}
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
