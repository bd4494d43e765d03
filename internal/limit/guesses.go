// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// GuessRate is how often one address may be wrong about one room's password or one user's. Only wrong answers count, so
// that a class behind one address can come in at once.
var GuessRate = Every(6*time.Second, 30)

// Secret is what is guessed at.
type Secret byte

// The secrets that people type.
const (
	RoomPassword Secret = iota
	HostLogin
)

// Guess is somebody's attempt at a secret. There is no limit on a tenant or a room alone, nor on an address over all
// rooms and users: with one, somebody could lock others out.
type Guess struct {
	Tenant types.UID
	What   Secret
	From   netip.Addr
	// Subject is the room's name or the username.
	Subject string
}

// Guesses slow down who tries out secrets.
type Guesses struct{ buckets *Buckets[guessKey] }

// guessKey has a fixed size, whatever the subject is.
type guessKey struct {
	tenant  types.UID
	what    Secret
	from    netip.Addr
	subject [16]byte
}

// maxGuesses bounds the memory: about 20 MB.
const maxGuesses = 1 << 16

// NewGuesses makes Guesses.
func NewGuesses() *Guesses { return &Guesses{New[guessKey](maxGuesses)} }

// Try begins a guess, or says how long until there may be one. Done must be called unless there is a wait.
func (g *Guesses) Try(guess Guess, now time.Time) (done func(wrong bool), wait time.Duration) {
	key := guessKey{tenant: guess.Tenant, what: guess.What, from: guess.From}
	sum := sha256.Sum256([]byte(guess.Subject))
	copy(key.subject[:], sum[:])
	return g.buckets.Try(key, GuessRate, now)
}
