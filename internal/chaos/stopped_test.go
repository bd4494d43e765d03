// SPDX-License-Identifier: Apache-2.0

//go:build faults

package chaos

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// TestLeaderStopped has the leader sleep until another leads, in the middle of ends, and wakes it.
func TestLeaderStopped(t *testing.T) {
	t.Parallel()
	const rounds = 5
	p := newPair(t)
	living, lively := p.crowd(t, "living", 2)
	for round := range rounds {
		prefix := fmt.Sprintf("round%d-", round)
		rooms, guests := p.crowd(t, prefix, roomsPerRound)
		leader, other := p.leader(t)
		wait := p.endAll(t, rooms[:2])
		p.balancer.set(other.Addresses[0])
		stop(t, leader)
		at := time.Now()
		p.eventually(t, func() error {
			if !leads(other) {
				return errors.New("the other does not lead")
			}
			return nil
		})
		wait()
		alsoWait := p.endAll(t, rooms[2:])
		if err := syscall.Kill(leader.PID(), syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		p.allUp()
		alsoWait()
		p.allOver(t, prefix, guests, living)
		p.eventually(t, func() error {
			if leads(leader) && leads(other) {
				return errors.New("both lead")
			}
			return nil
		})
		summary.tried("ends, two managers", "SIGSTOP of the leader past its Lease", fmt.Sprint("round ", round+1), !t.Failed(), time.Since(at))
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

// stop stops a process without its knowledge. It goes on when the test ends, so that it can be ended.
func stop(t *testing.T, m *testkit.ManagerProcess) {
	t.Helper()
	if err := syscall.Kill(m.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(m.PID(), syscall.SIGCONT) })
}
