// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// each is how tenant A's backend reaches each of the managers, without the balancer.
func (w *world) each() []account {
	var all []account
	for _, m := range w.managers {
		all = append(all, account{t: w.a.t, baseURL: m.URL, key: w.a.key})
	}
	return all
}

// newReplicas is a world with its two managers.
func newReplicas(t *testing.T, change ...func(a, b *v1alpha1.ConferenceConfig)) (w *world, one, other account) {
	t.Helper()
	w = newWorld(t, change...)
	all := w.each()
	return w, all[0], all[1]
}

// TestReplicasSeeEachOthersWrites: what one replica has confirmed, the next request to another sees.
func TestReplicasSeeEachOthersWrites(t *testing.T) {
	_, one, other := newReplicas(t)
	for i := range 15 {
		room := fmt.Sprint("room ", i)
		one.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room, "duration": "01:00:00"})
		other.want(http.StatusConflict, "POST", "/api/v1/meeting", map[string]any{"room": room, "duration": "02:00:00"})
		other.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": room, "name": "Ada"})
		one.want(http.StatusOK, "DELETE", "/api/v1/meeting/room%20"+fmt.Sprint(i), nil)
		other.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room, "duration": "02:00:00"})
		one.want(http.StatusOK, "DELETE", "/api/v1/meeting/room%20"+fmt.Sprint(i), nil)
		created := fmt.Sprint("fresh ", i)
		one.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": created})
		other.want(http.StatusOK, "DELETE", "/api/v1/meeting/fresh%20"+fmt.Sprint(i), nil)
	}
}

// lists returns an error unless a room is in the listing, or is not, as wanted.
func (a account) lists(room string, want bool) error {
	a.t.Helper()
	if listed := a.want(http.StatusOK, "GET", "/api/v1/meetings", nil); strings.Contains(listed.raw, `"`+room+`"`) != want {
		return fmt.Errorf("want %s: %t; listed are %s", room, want, listed.raw)
	}
	return nil
}

// counts returns an error unless the totals are as wanted.
func (a account) counts(rooms, users float64) error {
	a.t.Helper()
	if stats := a.want(http.StatusOK, "GET", "/api/v1/stats", nil); stats.body["totalRooms"] != rooms || stats.body["totalUsers"] != users {
		return fmt.Errorf("want %v rooms and %v users; the totals are %s", rooms, users, stats.raw)
	}
	return nil
}

// TestListingsFollowWrites: what one replica has confirmed is in its own listing and totals at once; in those of another as soon as the
// API server has told that one. A join gives no link into a meeting that another replica has just ended: it makes the next one.
func TestListingsFollowWrites(t *testing.T) {
	w, one, other := newReplicas(t)
	for i := range 50 {
		room := fmt.Sprint("room", i)
		for _, made := range []bool{true, false} {
			rooms := map[bool]float64{true: 1}[made]
			if made {
				one.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
			} else {
				one.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
			}
			if err := errors.Join(one.lists(room, made), one.counts(rooms, 0)); err != nil {
				t.Error(err)
			}
			w.eventually(t, func() error { return errors.Join(other.lists(room, made), other.counts(rooms, 0)) })
		}
		one.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
		one.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
		if status, e := other.session(map[string]any{"ticket": other.ticket(map[string]any{"room": room, "name": "Ada"})}); status != http.StatusOK {
			t.Errorf("a join right after an end on the other replica gives a link that answers %d %s", status, e.Reason)
		}
		w.eventually(t, func() error { return one.lists(room, true) })
		other.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
		w.eventually(t, func() error { return one.lists(room, false) })
	}
}

// roomCall is what a call does to a room.
type roomCall string

const (
	toCreate roomCall = "create"
	toEnd    roomCall = "end"
	toLock   roomCall = "lock"
	toUnlock roomCall = "unlock"
	toShow   roomCall = "show"
	// toRemove removes a user, and toAsk is that user, who asks for a session.
	toRemove roomCall = "remove"
	toAsk    roomCall = "ask"
)

var roomCalls = []roomCall{toCreate, toEnd, toLock, toUnlock, toShow, toRemove, toAsk}

// roomOperation is a call about one room and what it answered. What it tells of the room is empty where an answer tells nothing.
type roomOperation struct {
	call   roomCall
	status int
	tells  string
}

// roomState is one room: a meeting is live or it is not, and one that is live is locked or it is not, and has a user removed or not.
type roomState struct{ live, locked, removed bool }

// after is the room after a call that was carried out.
func (s roomState) after(c roomCall) roomState {
	switch c {
	case toCreate:
		s.live = true
	case toEnd:
		return roomState{}
	case toLock, toUnlock:
		s.locked = s.live && c == toLock
	case toRemove:
		s.removed = s.live
	}
	return s
}

// tells is what the answer of a call has to tell of the room after it.
func (s roomState) tells(c roomCall) string {
	switch {
	case c == toAsk && s.removed:
		return "NotAllowed"
	case c == toAsk && s.locked:
		return "Locked"
	case c == toLock, c == toUnlock, c == toShow:
		return fmt.Sprintf("locked: %t", s.locked)
	}
	return ""
}

// roomModel: what is confirmed holds for every later call, whichever replica takes it. A call that failed may have been carried out
// or not.
var roomModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{roomState{}} },
	Step: func(state, _, output any) []any {
		now, o := state.(roomState), output.(roomOperation)
		next := now.after(o.call)
		switch {
		case o.status >= http.StatusInternalServerError:
			return []any{now, next}
		case o.status == http.StatusNotFound && !now.live && o.call != toCreate:
			return []any{now}
		case o.status == http.StatusNotFound || !now.live && o.call != toCreate:
			return nil
		case o.tells != next.tells(o.call):
			return nil
		}
		return []any{next}
	},
}).ToModel()

// about makes a call about a room and a user, who has a token.
func (a account) about(c roomCall, room, user, token string) (roomOperation, reply) {
	path := "/api/v1/meeting/" + room
	var answer reply
	switch c {
	case toCreate:
		answer = a.call("POST", "/api/v1/meeting", map[string]any{"room": room})
	case toEnd:
		answer = a.call("DELETE", path, nil)
	case toLock, toUnlock:
		answer = a.call("PATCH", path, map[string]any{"locked": c == toLock})
	case toShow:
		answer = a.call("GET", path, nil)
	case toRemove:
		answer = a.call("DELETE", path+"/participants/user:"+user, nil)
	case toAsk:
		answer = a.call("POST", "/session", map[string]any{"room": room, "name": "Eve", "token": token})
	}
	op := roomOperation{call: c, status: answer.status}
	if locked, shown := answer.body["locked"].(bool); shown {
		op.tells = fmt.Sprintf("locked: %t", locked)
	}
	switch answer.status {
	case http.StatusForbidden: // by a meeting that is live
		op.status, op.tells = http.StatusOK, answer.text("reason")
	case http.StatusGone:
		op.status = http.StatusNotFound
	}
	return op, answer
}

// withQueue has all wait, so that no session leads into LiveKit's room of a meeting.
func withQueue(a, _ *v1alpha1.ConferenceConfig) {
	a.Spec.Meetings = &v1alpha1.MeetingsSpec{Admission: v1alpha1.AdmissionAsk}
}

// slowWrite is half of what Convene gives a write. On a machine where one takes longer, a refusal is right.
const slowWrite = 750 * time.Millisecond

// slowestWrite writes past Convene until it is asked, and then says how long the slowest write took. On a machine that has
// no time for the API server, Convene has to answer that it does not answer.
func (w *world) slowestWrite(t *testing.T) (stop func() time.Duration) {
	t.Helper()
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, GenerateName: "probe-"}}
	w.Create(t, probe)
	ctx, cancel := context.WithCancel(context.Background())
	slowest := make(chan time.Duration, 1)
	go func() {
		var longest time.Duration
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			probe.Data = map[string]string{"i": fmt.Sprint(i)}
			if err := w.Client.Update(context.Background(), probe); err != nil {
				t.Error(err)
				break
			}
			longest = max(longest, time.Since(began))
		}
		slowest <- longest
	}()
	return func() time.Duration { cancel(); return <-slowest }
}

// TestRacingReplicasAgreeOnARoom: creates, ends, locks and looks at one room, the removal of a user, and what that user is answered,
// from two replicas at once, are as if one after the other, and none is refused while the API server answers.
func TestRacingReplicasAgreeOnARoom(t *testing.T) {
	w, one, other := newReplicas(t, controlled, withQueue)
	token := one.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{"username": "eve", "password": "x", "expire": "1h"}).text("token")
	replicas := []account{one, other}
	var (
		mu      sync.Mutex
		history []porcupine.Operation
		refused []string
		clients sync.WaitGroup
		began   = time.Now()
		slowest = w.slowestWrite(t)
	)
	for client := range 4 {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 7))
			for range 50 {
				call := roomCalls[random.IntN(len(roomCalls))]
				called := time.Since(began)
				op, answer := replicas[random.IntN(2)].about(call, "contended", "eve", token)
				mu.Lock()
				switch {
				case op.status == http.StatusServiceUnavailable && answer.header.Get("Retry-After") != "":
					refused = append(refused, answer.raw)
				case op.status != http.StatusOK && op.status != http.StatusAccepted && op.status != http.StatusNotFound:
					t.Errorf("a call answered %d %s", answer.status, answer.raw)
				}
				returned := int64(time.Since(began))
				if op.status >= http.StatusInternalServerError {
					returned = math.MaxInt64 // What was given up may still come about.
				}
				history = append(history, porcupine.Operation{ClientId: client, Input: op, Output: op, Call: int64(called), Return: returned})
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	if took := slowest(); len(refused) > 0 && took < slowWrite {
		t.Errorf("refused, while the slowest write took %s: %q", took, refused)
	}
	if !porcupine.CheckOperations(roomModel, history) {
		t.Errorf("no order of the calls explains the answers: %+v", history)
	}
	live := 0
	for _, m := range w.meetingsOf(t, "contended") {
		if m.Status.Phase != v1alpha1.MeetingEnded {
			live++
		}
	}
	if live > 1 {
		t.Errorf("%d live Meetings of one room", live)
	}
}
