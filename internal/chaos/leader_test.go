// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// pair is two managers behind a balancer, of which one leads.
type pair struct {
	*world
	balancer *balancer
	managers []*testkit.ManagerProcess
	// ways are the proxies through which each of them reaches the API server.
	ways []*testkit.Proxy
}

func newPair(t *testing.T) *pair {
	t.Helper()
	cluster := *testkit.ControlPlane(t)
	p := &pair{balancer: newBalancer(t)}
	p.world = newWorld(t, &cluster, options{address: p.balancer.address})
	for range 2 {
		way, kubeconfig := p.APIServerProxy(t)
		p.ways = append(p.ways, way)
		p.managers = append(p.managers, testkit.Manager(t, p.Cluster, testkit.ManagerOptions{
			Kubeconfig: kubeconfig, DefaultConfig: p.Namespace + "/default",
			Args: []string{
				"--leader-elect", "--leader-election-namespace", p.Namespace, "--leader-elect-lease-duration", "4s",
				"--leader-elect-renew-deadline", "3s", "--leader-elect-retry-period", "500ms",
			},
		}))
	}
	p.allUp()
	p.eventually(t, p.configServes("default"))
	return p
}

func (p *pair) allUp() { p.balancer.set(p.managers[0].Addresses[0], p.managers[1].Addresses[0]) }

// leader is the manager that says so of itself, and the other one.
func (p *pair) leader(t testing.TB) (leader, other *testkit.ManagerProcess) {
	t.Helper()
	p.eventually(t, func() error {
		for i, m := range p.managers {
			if leads(m) {
				leader, other = m, p.managers[1-i]
				return nil
			}
		}
		return errors.New("nobody leads")
	})
	return leader, other
}

func leads(m *testkit.ManagerProcess) bool {
	response, err := connections.Get(m.MetricsURL)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if line := lines.Text(); strings.HasPrefix(line, "leader_election_master_status{") && strings.HasSuffix(line, " 1") {
			return true
		}
	}
	return false
}

// crowd opens rooms, each with a guest in it.
func (p *pair) crowd(t testing.TB, prefix string, n int) (rooms []string, guests []*guest) {
	t.Helper()
	for i := range n {
		room := fmt.Sprint(prefix, i)
		if err := p.backend.open(t.Context(), map[string]any{"room": room}); err != nil {
			t.Fatal(err)
		}
		rooms, guests = append(rooms, room), append(guests, p.guest(t, room, ""))
	}
	for _, room := range rooms {
		p.eventually(t, p.occupied(room, 1))
	}
	return rooms, guests
}

// endAll ends rooms one right after the other, whatever happens meanwhile.
func (p *pair) endAll(t *testing.T, rooms []string) (wait func()) {
	var all sync.WaitGroup
	all.Go(func() {
		for _, room := range rooms {
			if err := p.backend.end(t.Context(), room); err != nil {
				t.Error(err)
			}
		}
	})
	return all.Wait
}

// allOver waits until the guests know that their meetings are over, nothing is left of those, and the rest goes on.
func (p *pair) allOver(t *testing.T, prefix string, guests []*guest, living []string) {
	t.Helper()
	for _, g := range guests {
		select {
		case <-g.over:
		case <-time.After(patience):
			t.Fatalf("a participant is still in %s", g.room)
		}
		if _, wrong := g.cameIn(); wrong != "" {
			t.Errorf("the guest of %s was answered %s", g.room, wrong)
		}
	}
	p.eventually(t, func() error {
		for _, l := range p.history.of(prefix) {
			if !l.gone {
				return fmt.Errorf("left over: %+v", l.last().Status)
			}
			if reason := l.last().Status.EndReason; reason != v1alpha1.EndRequested {
				return fmt.Errorf("ended like this: %+v", l.last().Status)
			}
		}
		return p.quiet()
	})
	if n := len(p.history.of(prefix)); n != len(guests) {
		t.Errorf("there were %d Meetings of %d rooms", n, len(guests))
	}
	for _, room := range living {
		p.eventually(t, p.occupied(room, 1))
	}
	p.unbroken(t)
}

// unbroken holds every Meeting that there ever was against what must always be so.
func (w *world) unbroken(t *testing.T) {
	t.Helper()
	for _, l := range w.history.of("") {
		if broken := l.broken(); len(broken) > 0 {
			t.Errorf("%s: %q", l.last().Name, broken)
		}
	}
}

const roomsPerRound = 4

// TestLeaderKilled kills the leader at another write of a stream of ends each time.
func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	rounds := 1
	if thorough {
		rounds = 20
	}
	p := newPair(t)
	living, lively := p.crowd(t, "living", 2)
	for round := range rounds {
		prefix := fmt.Sprintf("round%d-", round)
		rooms, guests := p.crowd(t, prefix, roomsPerRound)
		leader, other := p.leader(t)
		var writes atomic.Int32
		killed := make(chan time.Time, 1)
		place := func(write string) testkit.Fault {
			if write == "" || writes.Add(1) != int32(round+1) {
				return nil
			}
			return testkit.LoseAnswer(func() {
				p.balancer.set(other.Addresses[0])
				leader.Kill()
				killed <- time.Now()
			})
		}
		for _, way := range p.ways {
			way.Place(func(q *http.Request) testkit.Fault { return place(kubernetesWrite(q)) })
		}
		p.media.Place(func(q *http.Request) testkit.Fault { return place(mediaWrite(q)) })
		wait := p.endAll(t, rooms)
		at := <-killed
		wait()
		p.allOver(t, prefix, guests, living)
		took := time.Since(at)
		for _, way := range p.ways {
			way.Place(nil)
		}
		p.media.Place(nil)
		leader.Start(t)
		p.allUp()
		summary.tried("ends, two managers", "kill -9 of the leader", fmt.Sprint("write ", round+1), !t.Failed(), took)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	for _, g := range lively {
		if g.isOver() {
			t.Errorf("the meeting of %s was ended", g.room)
		}
	}
}
