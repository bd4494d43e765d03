// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"fmt"
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
		{"by a backend at that address", func(g *Guess) { g.Backend = true }, 0, 0},
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

func TestAddressesAndSitesHaveALimitOverAllSubjects(t *testing.T) {
	for _, tc := range []struct {
		reason string
		from   func(i int) netip.Addr
		limit  Rate
	}{
		{"one address", func(int) netip.Addr { return netip.MustParseAddr("192.0.2.1") }, AddressRate},
		{"one network of IPv6", func(int) netip.Addr { return netip.MustParseAddr("2001:db8::") }, AddressRate},
		{"all networks of one site", func(i int) netip.Addr {
			return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, 1, byte(i >> 8), byte(i)})
		}, SiteRate},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			g := NewGuesses()
			guess := Guess{Tenant: "a", What: HostLogin}
			for i := range tc.limit.Burst {
				guess.From, guess.Subject = tc.from(i), fmt.Sprint("nobody-", i)
				done, wait := g.Try(guess, start)
				if wait > 0 {
					t.Fatalf("guess %d: wait %s", i, wait)
				}
				done(true)
			}
			guess.From, guess.Subject = tc.from(0), "one more"
			if _, wait := g.Try(guess, start); wait == 0 {
				t.Error("one more guess")
			}
			guess.Backend = true
			if _, wait := g.Try(guess, start); wait != 0 {
				t.Errorf("a backend waits %s for what its users guess", wait)
			}
			guess.Backend, guess.What = false, RoomPassword
			if _, wait := g.Try(guess, start); wait != 0 {
				t.Errorf("a guess at something else: wait %s", wait)
			}
		})
	}
}

// TestAGuesserCannotFlushTheLimit: what one address has guessed at one subject counts, however many others it tries.
func TestAGuesserCannotFlushTheLimit(t *testing.T) {
	g, eve := NewGuesses(), Guess{Tenant: "a", What: RoomPassword, From: netip.MustParseAddr("192.0.2.1"), Subject: "room"}
	for range GuessRate.Burst {
		done, _ := g.Try(eve, start)
		done(true)
	}
	tries := 0
	for i := range maxSubjects + 4000 {
		other := Guess{Tenant: "a", What: HostLogin, From: eve.From, Subject: fmt.Sprint(i)}
		if done, wait := g.Try(other, start); wait == 0 {
			done(true)
			tries++
		}
	}
	if tries != AddressRate.Burst {
		t.Errorf("%d guesses of one address at once, want %d", tries, AddressRate.Burst)
	}
	if _, wait := g.Try(eve, start); wait != 6*time.Second {
		t.Errorf("wait %s for one more guess at the first subject", wait)
	}
}
