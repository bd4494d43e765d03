// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// knocks asks for a session, which makes them wait, and connects to the waiting room.
func (a account) knocks(body map[string]any) (*peer.Peer, entry) {
	a.t.Helper()
	status, e := a.session(body)
	if status != http.StatusAccepted {
		a.t.Fatalf("%v has not to wait: %d %s %s", body, status, e.Reason, e.Error)
	}
	return e.connect(a.t), e
}

// stateOf is what GET session says.
func (a account) stateOf(session string) reply {
	a.t.Helper()
	return a.as(session, http.MethodGet, "/session", nil)
}

// act has a presenter do something.
func (a account) act(e entry, body map[string]any) {
	a.t.Helper()
	if status := a.withSession(e, "session/act", body); status != http.StatusNoContent {
		a.t.Fatalf("%v: %d", body, status)
	}
}

// learns waits until what a peer was told makes a condition true.
func learns(t *testing.T, p *peer.Peer, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.Until(ctx, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func isOpen(p *peer.Peer) func() bool {
	return func() bool { return strings.Contains(p.Metadata(), `"open":true`) }
}

func isAdmitted(p *peer.Peer) func() bool {
	return func() bool { return p.Attributes()["admitted"] == "true" }
}

// names of those who wait, as a presenter's page is told.
func (a account) waitingFor(presenter entry) string {
	a.t.Helper()
	var state struct {
		Waiting struct {
			Count  int
			People []struct{ Name, Message string }
		}
	}
	if err := json.Unmarshal([]byte(a.stateOf(presenter.Session).raw), &state); err != nil {
		a.t.Fatal(err)
	}
	all := []string{fmt.Sprint(state.Waiting.Count)}
	for _, p := range state.Waiting.People {
		all = append(all, strings.TrimSuffix(p.Name+": "+p.Message, ": "))
	}
	return strings.Join(all, ", ")
}

// TestAskToBeLetIn: people wait where they see nobody, with nothing that opens the meeting, until they are let in or refused, by a
// presenter, by REST and with kubectl, whichever replica is asked.
func TestAskToBeLetIn(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	const room, path = "board", "/api/v1/meeting/board"
	replicas := w.each()
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	w.a.want(http.StatusOK, "PATCH", path, map[string]any{"admission": "Ask"})
	ada := w.a.mustEnter(map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})
	adas := ada.connect(t)
	guest := func(name string) map[string]any { return map[string]any{"room": room, "name": name} }
	eves, eve := replicas[0].knocks(guest("Eve"))
	bobs, bob := replicas[1].knocks(guest("Bob"))

	// A participant who waits sees nobody, is seen by nobody, and publishes nothing.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := eves.Publish(ctx, peer.Microphone); !errors.Is(err, peer.ErrNotAllowed) {
		t.Errorf("the microphone of one who waits: %v", err)
	}
	if others := eves.Others(); len(others) != 0 || strings.Contains(eves.Metadata(), "admission") {
		t.Errorf("one who waits sees %v, and is told %s", others, eves.Metadata())
	}
	for call, body := range map[string]map[string]any{"chat": {"text": "hi"}, "hand": {"raised": true}, "act": {"action": "admit", "identity": eve.You.Identity}} {
		if status := w.a.withSession(eve, "session/"+call, body); status != http.StatusForbidden {
			t.Errorf("one who waits and asks for %s: %d", call, status)
		}
	}
	if got := w.a.stateOf(eve.Session); got.text("state") != "waiting" || strings.Contains(got.raw, "Bob") {
		t.Errorf("one who waits is told %s", got.raw)
	}

	// Presenters are told on each replica, by REST, and in the status.
	select {
	case data := <-adas.Data():
		if data.Topic != "convene.waiting" || data.From != "" {
			t.Errorf("Ada is told %s from %q", data.Topic, data.From)
		}
	case <-time.After(patience):
		t.Error("Ada is not told that others wait")
	}
	if r := w.a.as(eve.Session, http.MethodPost, "/session/message", map[string]any{"text": "It is me"}); r.status != http.StatusOK {
		t.Fatalf("a message: %d %s", r.status, r.raw)
	} else {
		eve.Session = r.text("session")
	}
	for _, each := range replicas {
		w.eventually(t, func() error {
			if got := each.waitingFor(ada); got != "2, Eve: It is me, Bob" {
				return errors.New(got)
			}
			return nil
		})
	}
	if r := w.a.as(eve.Session, http.MethodPost, "/session/message", map[string]any{"text": "Hurry"}); r.status != http.StatusConflict {
		t.Errorf("a second message: %d %s", r.status, r.raw)
	}
	w.eventually(t, func() error {
		m := w.meetingsOf(t, room)[0].Status
		if m.WaitingCount != 2 || len(m.Waiting) != 2 || m.Waiting[0].Identity != eve.You.Identity || m.ParticipantCount != 1 {
			return fmt.Errorf("status is %+v", m)
		}
		if got := w.a.want(http.StatusOK, "GET", path, nil); got.body["waiting"] != 2.0 || got.text("admission") != "Ask" {
			return errors.New(got.raw)
		}
		return nil
	})
	if listed := w.a.want(http.StatusOK, "GET", path+"/participants", nil).raw; strings.Count(listed, `"waiting":true`) != 2 || !strings.Contains(listed, "It is me") {
		t.Errorf("listed: %s", listed)
	}
	for _, each := range replicas {
		each.want(http.StatusOK, "GET", path, nil) // From here on this replica knows those who wait.
		if stats := each.want(http.StatusOK, "GET", "/api/v1/stats", nil); stats.body["totalUsers"] != 1.0 || stats.body["totalPeers"] != 1.0 {
			t.Errorf("people who wait are counted: %s", stats.raw)
		}
	}

	// A reload keeps the place: since, identity and message.
	eves.Close()
	eves, back := replicas[1].knocks(map[string]any{"room": room, "name": "Eve", "session": eve.Session})
	if back.You.Identity != eve.You.Identity || !back.Waiting.Since.Equal(eve.Waiting.Since) || back.Waiting.Message != "It is me" {
		t.Errorf("back as %+v, was %+v", back.Waiting, eve.Waiting)
	}

	// One is let in by the presenter through one replica, and comes in through the other.
	replicas[0].act(ada, map[string]any{"action": "admit", "identity": eve.You.Identity})
	learns(t, eves, "Eve is told", isAdmitted(eves))
	w.eventually(t, func() error { // The other replica hears of the write a moment later.
		if got := replicas[1].stateOf(back.Session).text("state"); got != "admitted" {
			return fmt.Errorf("Eve is %s", got)
		}
		return nil
	})
	in := replicas[1].mustEnter(map[string]any{"room": room, "name": "Eve", "session": back.Session})
	if in.You.Identity != eve.You.Identity {
		t.Errorf("Eve waited as %s, and came as %s", eve.You.Identity, in.You.Identity)
	}
	in.connect(t)
	learns(t, adas, "Ada sees Eve", func() bool { return adas.Others()[eve.You.Identity] != nil })

	// One is refused by REST, and does not come back.
	w.a.want(http.StatusOK, "DELETE", path+"/participants/"+bob.You.Identity, nil)
	gone(t, bobs)
	w.eventually(t, func() error {
		if got := w.a.stateOf(bob.Session).text("state"); got != "removed" {
			return fmt.Errorf("Bob is %s", got)
		}
		return nil
	})
	w.a.refused("who was refused", map[string]any{"room": room, "name": "Bob", "session": bob.Session}, "NotAllowed")
	if code := w.a.door(bob.Engine.Token); code != http.StatusForbidden {
		t.Errorf("Bob's access token: %d", code)
	}

	// By REST, with kubectl, and all together.
	cems, cem := w.a.knocks(guest("Cem"))
	w.a.want(http.StatusOK, "PATCH", path+"/participants/"+cem.You.Identity, map[string]any{"admitted": true})
	learns(t, cems, "Cem is told", isAdmitted(cems))
	dans, dan := w.a.knocks(guest("Dan"))
	name := w.meetingsOf(t, room)[0].Name
	w.Kubectl(t, "patch", "meeting", name, "--type=json", "-p", `[{"op":"add","path":"/spec/participants/-","value":{"identity":"`+dan.You.Identity+`","admitted":true}}]`)
	learns(t, dans, "Dan is told", isAdmitted(dans))
	cems.Close()
	dans.Close()
	fays, fay := replicas[0].knocks(guest("Fay"))
	guss, gus := replicas[1].knocks(guest("Gus"))
	w.eventually(t, func() error {
		if got := w.a.waitingFor(ada); got != "2, Fay, Gus" {
			return errors.New(got)
		}
		return nil
	})
	_, unseen := w.a.session(guest("Ian")) // Who does not connect.
	before := w.meetingsOf(t, room)[0].Generation
	w.a.act(ada, map[string]any{"action": "admitAll"})
	if after := w.meetingsOf(t, room)[0].Generation; after != before+1 {
		t.Errorf("all were let in with %d writes", after-before)
	}
	learns(t, fays, "Fay is told", isOpen(fays))
	learns(t, guss, "Gus is told", isOpen(guss))
	for _, e := range []entry{fay, gus} {
		w.a.mustEnter(map[string]any{"room": room, "name": e.You.Name, "session": e.Session})
	}
	until := w.meetingsOf(t, room)[0].Spec.AdmittedUntil
	w.eventually(t, func() error { // A Meeting holds whole seconds.
		if !time.Now().After(until.Time) {
			return fmt.Errorf("all are let in until %s", until)
		}
		return nil
	})
	ians, _ := w.a.knocks(map[string]any{"room": room, "name": "Ian", "session": unseen.Session})
	w.eventually(t, func() error {
		if got := w.a.waitingFor(ada); got != "1, Ian" {
			return errors.New(got)
		}
		return nil
	})
	ians.Close()
	fays.Close()
	guss.Close()

	// The end reaches those who wait, and their room goes.
	hals, hal := w.a.knocks(guest("Hal"))
	if status, e := w.a.session(guest("Ivy")); status != http.StatusAccepted || e.Waiting.Why != "Ask" {
		t.Errorf("after all were let in: %d %+v", status, e.Waiting)
	}
	w.a.call("DELETE", path, map[string]any{"redirect": "https://example.com/bye"})
	gone(t, hals)
	if !strings.Contains(hals.Metadata(), `"ended":true`) || !strings.Contains(hals.Metadata(), "https://example.com/bye") {
		t.Errorf("at the end one who waits is told %s", hals.Metadata())
	}
	if got := w.a.stateOf(hal.Session); got.text("state") != "ended" || got.text("redirect") != "https://example.com/bye" {
		t.Errorf("one who waited is told %s", got.raw)
	}
	w.eventually(t, func() error {
		rooms, err := w.engine(t).Rooms(t.Context(), "convene_")
		if err == nil && len(rooms) > 0 {
			err = fmt.Errorf("left: %+v", rooms)
		}
		return err
	})
	w.eventually(t, func() error {
		events := w.Kubectl(t, "get", "events", "--field-selector", "involvedObject.name="+name, "-o", "jsonpath={.items[*].reason}")
		if !slices.Contains(strings.Fields(events), "AdmissionChanged") {
			return errors.New(events)
		}
		return nil
	})
}

// TestWaitForAPresenter: all come in as soon as one is in, wherever they wait, and wait again when none is.
func TestWaitForAPresenter(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	const room = "lecture"
	replicas := w.each()
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	name := w.meetingsOf(t, room)[0].Name
	w.Kubectl(t, "patch", "meeting", name, "--type=merge", "-p", `{"spec":{"admission":"WithPresenter"}}`)
	w.eventually(t, func() error {
		for _, each := range replicas {
			if got := each.want(http.StatusOK, "GET", "/api/v1/meeting/"+room, nil).text("admission"); got != "WithPresenter" {
				return errors.New(got)
			}
		}
		return nil
	})
	anns, ann := replicas[0].knocks(map[string]any{"room": room, "name": "Ann"})
	bobs, bob := replicas[1].knocks(map[string]any{"room": room, "name": "Bob"})
	if ann.Waiting.Why != "WithPresenter" {
		t.Errorf("Ann waits because of %+v", ann.Waiting)
	}
	if status, e := w.a.session(map[string]any{"room": room, "name": "Ann", "session": ann.Session}); status != http.StatusAccepted {
		t.Errorf("without a presenter: %d %s", status, e.Error)
	}
	paulas := w.a.mustEnter(map[string]any{"room": room, "name": "Paula", "token": w.a.presenterToken("paula")}).connect(t)
	learns(t, anns, "Ann is told", isOpen(anns))
	learns(t, bobs, "Bob is told", isOpen(bobs))
	var inside []*peer.Peer
	for _, e := range []entry{ann, bob} {
		if got := w.a.stateOf(e.Session).text("state"); got != "admitted" {
			t.Errorf("%s is %s", e.You.Name, got)
		}
		inside = append(inside, w.a.mustEnter(map[string]any{"room": room, "name": e.You.Name, "session": e.Session}).connect(t))
	}
	learns(t, paulas, "Paula sees them", func() bool { return len(paulas.Others()) == 2 })
	paulas.Close()
	w.eventually(t, func() error {
		if status, _ := w.a.session(map[string]any{"room": room, "name": "Cem"}); status != http.StatusAccepted {
			return fmt.Errorf("without a presenter, one more: %d", status)
		}
		return nil
	})
	if len(inside[0].Others()) == 0 {
		t.Error("those who were in have left")
	}
}

// TestATokenOfBeforeStays: those who were in before others have to ask stay in, and come back.
func TestATokenOfBeforeStays(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	const room, path = "open", "/api/v1/meeting/open"
	ann := w.a.mustEnter(map[string]any{"ticket": w.a.ticket(map[string]any{"room": room, "name": "Ann"})})
	anns := ann.connect(t)
	proof := w.proof(t, ann)
	w.a.want(http.StatusOK, "PATCH", path, map[string]any{"admission": "Ask"})
	learns(t, anns, "pages are told", func() bool { return strings.Contains(anns.Metadata(), `"admission":"Ask"`) })
	anns.Close()
	w.a.mustEnter(map[string]any{"room": room, "name": "Ann", "session": proof}).connect(t)
	bobs, bob := w.a.knocks(map[string]any{"room": room, "name": "Bob"})
	w.a.want(http.StatusOK, "PATCH", path, map[string]any{"admission": "Open"})
	learns(t, bobs, "one who waits is told that it is open", isOpen(bobs))
	w.a.mustEnter(map[string]any{"room": room, "name": "Bob", "session": bob.Session})
	if since := time.Since(bob.Waiting.Since); since < 0 || since > time.Hour {
		t.Errorf("Bob waited for %s", since)
	}
}

// through connects to the media server by way of one replica.
func (e entry) through(t *testing.T, a account) *peer.Peer {
	t.Helper()
	e.Engine.URL = a.baseURL + "/media-server"
	return e.connect(t)
}

// TestWaitingOutlastsAReplica that is killed, the leader or not: the others still know who waits and since when, and let them in.
func TestWaitingOutlastsAReplica(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	const room = "queue"
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	w.a.want(http.StatusOK, "PATCH", "/api/v1/meeting/"+room, map[string]any{"admission": "Ask"})
	ada := w.a.mustEnter(map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})
	name := w.meetingsOf(t, room)[0].Name
	soon := func(check func() error) { t.Helper(); testkit.Eventually(t, 3*patience, check) }
	told := func(p *peer.Peer) func() error {
		return func() error {
			if !isAdmitted(p)() {
				return errors.New("one who was let in is not told")
			}
			return nil
		}
	}
	replicas := w.each()
	for i, killed := range w.managers {
		one, other := replicas[i], replicas[1-i]
		adas := ada.through(t, other)
		knock := func(a account, body map[string]any) (*peer.Peer, entry) {
			t.Helper()
			status, e := a.session(body)
			if status != http.StatusAccepted {
				t.Fatalf("%v: %d %s", body, status, e.Error)
			}
			return e.through(t, a), e
		}
		waits := func(want string) {
			t.Helper()
			soon(func() error {
				if got := other.waitingFor(ada); got != want {
					return errors.New(got)
				}
				return nil
			})
		}
		anns, ann := knock(one, map[string]any{"room": room, "name": "Ann"})
		bobs, bob := knock(other, map[string]any{"room": room, "name": "Bob"})
		waits("2, Ann, Bob")
		killed.Kill()
		gone(t, anns)
		anns, back := knock(other, map[string]any{"room": room, "name": "Ann", "session": ann.Session})
		if back.You.Identity != ann.You.Identity || !back.Waiting.Since.Equal(ann.Waiting.Since) {
			t.Errorf("back as %+v, was %+v", back.Waiting, ann.Waiting)
		}
		waits("2, Ann, Bob")
		w.Kubectl(t, "patch", "meeting", name, "--type=merge", "-p", `{"spec":{"participants":[{"identity":"`+bob.You.Identity+`","admitted":true}]}}`)
		soon(told(bobs))
		waits("1, Ann")
		soon(func() error {
			if m := w.meetingsOf(t, room)[0].Status; m.WaitingCount != 1 || m.Waiting[0].Identity != ann.You.Identity {
				return fmt.Errorf("%d wait: %v", m.WaitingCount, m.Waiting)
			}
			return nil
		})
		other.act(ada, map[string]any{"action": "admit", "identity": ann.You.Identity})
		soon(told(anns))
		anns.Close()
		bobs.Close()
		adas.Close()
		killed.Start(t)
		soon(func() error {
			if got := one.waitingFor(ada); got != "0" {
				return errors.New(got)
			}
			return nil
		})
	}
}
