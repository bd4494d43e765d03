// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/clientip"
)

// Only wrong answers count, so that a class behind one address can come in at once.
var (
	// GuessRate is how often one address may be wrong about one room's password or one user's.
	GuessRate = Every(6*time.Second, 30)
	// AddressRate is how often one address may be wrong over all rooms and users of a tenant.
	AddressRate = Every(time.Second, 120)
	// SiteRate is the same for all addresses of one site, where a site has many (IPv6).
	SiteRate = Every(time.Second/4, 480)
)

// Secret is what is guessed at.
type Secret byte

// What participants type, and what only those with a link are to know.
const (
	RoomPassword Secret = iota
	HostLogin
	RoomName
)

// Guess is an attempt at a secret. There is no limit on a tenant, a room or a user alone: with one, a guesser could lock
// others out.
type Guess struct {
	Tenant types.UID
	What   Secret
	From   netip.Addr
	// Subject is the room's name or the username; empty where the name itself is guessed.
	Subject string
	// Backend says that From is a backend's, which asks for many users: it is limited by subject alone.
	Backend bool
}

// Guesses slow down clients that try out secrets.
type Guesses struct {
	subjects *Buckets[subjectKey]
	origins  *Buckets[originKey]
}

// subjectKey has a fixed size, whatever the subject is.
type subjectKey struct {
	originKey
	subject [16]byte
	// backend keeps apart what the participants behind an address guess and what a backend asks from there.
	backend bool
}

type originKey struct {
	tenant types.UID
	what   Secret
	from   netip.Prefix
}

// maxSubjects and maxOrigins bound the memory: about 20 MB and 5 MB. One address has at most some hundred subjects at a
// time, because wrong answers about all of them count together.
const (
	maxSubjects = 1 << 16
	maxOrigins  = 1 << 14
)

// NewGuesses makes Guesses.
func NewGuesses() *Guesses {
	return &Guesses{subjects: New[subjectKey](maxSubjects), origins: New[originKey](maxOrigins)}
}

// Try begins a guess. It waits while as many are under way as may be wrong. Its error is a WaitError where there were too
// many wrong ones, and the context's otherwise. Without an error, done must be called.
func (g *Guesses) Try(ctx context.Context, guess Guess, now func() time.Time) (done func(wrong bool), err error) {
	var begun []func(bool)
	done = func(wrong bool) {
		for _, d := range begun {
			d(wrong)
		}
	}
	for _, begin := range g.limitsOf(guess) {
		d, err := begin(ctx, now)
		if err != nil {
			done(false)
			return nil, err
		}
		begun = append(begun, d)
	}
	return done, nil
}

type attempt func(ctx context.Context, now func() time.Time) (done func(bool), err error)

// limitsOf are all limits that a guess has to keep to, the widest first.
func (g *Guesses) limitsOf(guess Guess) []attempt {
	origin := originKey{tenant: guess.Tenant, what: guess.What, from: netip.PrefixFrom(guess.From, guess.From.BitLen())}
	var limits []attempt
	if !guess.Backend {
		if site := clientip.Site(guess.From); site.Bits() < guess.From.BitLen() {
			limits = append(limits, func(ctx context.Context, now func() time.Time) (func(bool), error) {
				return g.origins.Try(ctx, originKey{origin.tenant, origin.what, site}, SiteRate, now)
			})
		}
		limits = append(limits, func(ctx context.Context, now func() time.Time) (func(bool), error) {
			return g.origins.Try(ctx, origin, AddressRate, now)
		})
	}
	if guess.Subject == "" {
		return limits
	}
	key := subjectKey{originKey: origin, backend: guess.Backend}
	sum := sha256.Sum256([]byte(guess.Subject))
	copy(key.subject[:], sum[:])
	return append(limits, func(ctx context.Context, now func() time.Time) (func(bool), error) {
		return g.subjects.Try(ctx, key, GuessRate, now)
	})
}
