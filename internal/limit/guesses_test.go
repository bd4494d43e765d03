// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"net/netip"
	"testing"
	"time"
)

func TestGuessesAreCountedApart(t *testing.T) {
	g := NewGuesses()
	eve := Guess{Tenant: "a", What: RoomPassword, From: netip.MustParseAddr("192.0.2.1"), Subject: "room"}
	for range GuessRate.Burst {
		done, wait := g.Try(eve, start)
		if wait != 0 {
			t.Fatal("too early")
		}
		done(true)
	}
	for _, tc := range []struct {
		reason string
		change func(*Guess)
		after  time.Duration
		wait   time.Duration
	}{
		{"one more", func(*Guess) {}, 0, 6 * time.Second},
		{"a little later", func(*Guess) {}, 2 * time.Second, 4 * time.Second},
		{"later", func(*Guess) {}, 6 * time.Second, 0},
		{"at another room", func(g *Guess) { g.Subject = "other" }, 0, 0},
		{"of another tenant with the same room", func(g *Guess) { g.Tenant = "b" }, 0, 0},
		{"at a user of the room's name", func(g *Guess) { g.What = HostLogin }, 0, 0},
		{"from another address", func(g *Guess) { g.From = netip.MustParseAddr("192.0.2.2") }, 0, 0},
	} {
		guess := eve
		tc.change(&guess)
		done, wait := g.Try(guess, start.Add(tc.after))
		if wait != tc.wait {
			t.Errorf("%s: wait %s, want %s", tc.reason, wait, tc.wait)
		}
		if wait == 0 {
			done(false)
		}
	}
}
