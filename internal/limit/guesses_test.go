// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// try begins a guess, and compares how long it has to wait.
func try(t *testing.T, g *Guesses, guess Guess, now time.Time, want time.Duration) (done func(wrong bool)) {
	t.Helper()
	done, err := g.Try(t.Context(), guess, at(now))
	var spent WaitError
	if errors.As(err, &spent) {
		done = func(bool) {}
	} else if err != nil {
		t.Fatal(err)
	}
	if spent.For != want {
		t.Errorf("wait %s, want %s", spent.For, want)
	}
	return done
}

func TestGuessesAreCountedApart(t *testing.T) {
	g := NewGuesses()
	eve := Guess{Tenant: "a", What: RoomPassword, From: netip.MustParseAddr("192.0.2.1"), Subject: "room"}
	for range GuessRate.Burst {
		try(t, g, eve, start, 0)(true)
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
		t.Run(tc.reason, func(t *testing.T) { try(t, g, guess, start.Add(tc.after), tc.wait)(false) })
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
				try(t, g, guess, start, 0)(true)
			}
			guess.From, guess.Subject = tc.from(0), "one more"
			try(t, g, guess, start, time.Duration(float64(time.Second)/float64(tc.limit.PerSecond)))
			guess.Backend = true
			try(t, g, guess, start, 0) // A backend does not wait for what its users guess.
			guess.Backend, guess.What = false, RoomPassword
			try(t, g, guess, start, 0)
		})
	}
}

// TestAGuesserCannotFlushTheLimit: what one address has guessed at one subject counts, however many others it tries.
func TestAGuesserCannotFlushTheLimit(t *testing.T) {
	g, eve := NewGuesses(), Guess{Tenant: "a", What: RoomPassword, From: netip.MustParseAddr("192.0.2.1"), Subject: "room"}
	for range GuessRate.Burst {
		try(t, g, eve, start, 0)(true)
	}
	tries := 0
	for i := range maxSubjects + 4000 {
		other := Guess{Tenant: "a", What: HostLogin, From: eve.From, Subject: fmt.Sprint(i)}
		if done, err := g.Try(t.Context(), other, at(start)); err == nil {
			done(true)
			tries++
		}
	}
	if tries != AddressRate.Burst {
		t.Errorf("%d guesses of one address at once, want %d", tries, AddressRate.Burst)
	}
	try(t, g, eve, start, 6*time.Second)
}
