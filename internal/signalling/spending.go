// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"cmp"
	"context"
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"convene.dev/convene/internal/limit"
)

// budget is something that one participant spends.
type budget int

const (
	ofBytes budget = iota
	ofMessages
	ofDescriptions
	ofCandidates
	ofTracks
	ofOthers
	ofChanges
	ofStates
	ofSimulations
	budgets
)

// rates are how fast each budget fills, and how much it holds. A message that finds its budget empty waits.
var rates = [budgets]struct {
	fills rate.Limit
	holds int
}{
	// Among a hundred cameras each change of the meeting is a session description of 300 kB. The media server waits for one before it
	// asks for the next.
	ofBytes: {256 << 10, 2 * maxMessage},
	// In a room of a thousand cameras a page says of nine hundred that it does not take them.
	ofMessages: {50, 1200},
	// LiveKit parses a session description, and may answer with another.
	ofDescriptions: {10, 100},
	// LiveKit keeps ICE candidates until it has a session description.
	ofCandidates: {rate.Every(2 * time.Second), 500},
	// LiveKit keeps a track that the participant announces until the track arrives.
	ofTracks: {rate.Every(15 * time.Second), 32},
	// LiveKit keeps about 8 kB for a minute for each track of others that does not exist. Only tracks that the participant has not
	// named before count.
	ofOthers: {5, 2 * maxStateTracks},
	// LiveKit tells changes to all others.
	ofChanges: {5, 100},
	// LiveKit writes the state of a page that comes back into its log.
	ofStates: {rate.Every(5 * time.Second), 20},
	// A simulation is a new ICE session. The page asks for one in a test of the connection.
	ofSimulations: {rate.Every(30 * time.Second), 2},
}

const (
	// maxNamed is how many tracks of others are remembered as named before.
	maxNamed = 4096
	// maxSameTrack is how often a participant may announce a track with the same identifier, from one entry to the next. LiveKit writes all of
	// them into its log each time.
	maxSameTrack = 8
	// maxFirstAnswer is how long an answer may be beyond twice what the media server has sent, in bytes. Browsers answer with fewer bytes
	// than LiveKit offers.
	maxFirstAnswer = 16 << 10
)

// spending is what one participant has spent, over all its connections: LiveKit keeps what it has of a participant whose
// connection is lost. It is safe for concurrent use.
type spending struct {
	limiters [budgets]*rate.Limiter

	mu sync.Mutex
	// named are the tracks of others, and announced how often each of the participant's own, both by hash.
	named     map[uint64]struct{}
	announced map[uint64]int
	// heard is how many bytes the media server has sent since the last answer.
	heard atomic.Int64

	// connections and forget belong to the ledger.
	connections int
	forget      *time.Timer
}

// account is what the messages of one connection are charged to.
type account struct {
	*spending
	shared *limit.Buckets[sharer]
	sharer
}

// sharer is a meeting, or a site in one.
type sharer struct {
	meeting string
	site    netip.Prefix
}

// Whoever has a link makes any number of participants. All of a meeting together, and half of that for all of one site, may name so many
// tracks of others, and LiveKit forgets them after a minute. The first ownNames of each participant do not count, so that nobody in a usual
// meeting has to wait for others: all cameras of a meeting of a hundred are 7,000 that count.
var (
	meetingNames = limit.Rate{PerSecond: 546, Burst: 32 << 10}
	siteNames    = limit.Rate{PerSecond: 273, Burst: 16 << 10}
)

const (
	ownNames   = 30
	maxSharers = 1 << 14
)

// takeShared waits until the meeting and the site may name so many tracks.
func (a account) takeShared(ctx context.Context, n int) error {
	within, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for _, of := range []struct {
		sharer
		limit.Rate
	}{{a.sharer, siteNames}, {sharer{meeting: a.meeting}, meetingNames}} {
		for {
			wait := a.shared.TakeN(of.sharer, of.Rate, n, time.Now())
			if wait == 0 {
				break
			}
			select {
			case <-time.After(wait):
			case <-within.Done():
				return cmp.Or(ctx.Err(), error(errManyNames))
			}
		}
	}
	return nil
}

var errManyNames = &closeError{statusTryAgainLater, "this meeting asks for too many tracks; try again"}

func newSpending() *spending {
	s := &spending{named: map[uint64]struct{}{}, announced: map[uint64]int{}}
	for b, r := range rates {
		s.limiters[b] = rate.NewLimiter(r.fills, r.holds)
	}
	return s
}

var seed = maphash.MakeSeed()

// maxWait is how long a message waits at most.
const maxWait = time.Minute

// take waits until a budget has what is asked for. Its error is an InvalidError where that takes too long, and the context's otherwise.
func (s *spending) take(ctx context.Context, from budget, n int) error {
	within, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if err := s.limiters[from].WaitN(within, n); err != nil && ctx.Err() == nil {
		return invalid("there are too many messages")
	}
	return ctx.Err()
}

func hash(text string) uint64 { return maphash.String(seed, text) }

// name waits until the tracks that are new may be named, by hash. Only tracks that were paid for are remembered.
func (a account) name(ctx context.Context, tracks []uint64) error {
	fresh, before := a.newOf(tracks)
	if err := a.take(ctx, ofOthers, len(fresh)); err != nil {
		return err
	}
	if shared := min(len(fresh), before+len(fresh)-ownNames); shared > 0 {
		if err := a.takeShared(ctx, shared); err != nil {
			return err
		}
	}
	a.remember(fresh)
	return nil
}

func (s *spending) remember(fresh []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, track := range fresh {
		if len(s.named) >= maxNamed {
			clear(s.named)
		}
		s.named[track] = struct{}{}
	}
}

// newOf returns the tracks that were not named before, and how many were.
func (s *spending) newOf(tracks []uint64) (fresh []uint64, before int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, track := range tracks {
		if _, known := s.named[track]; !known {
			fresh = append(fresh, track)
		}
	}
	return fresh, len(s.named)
}

// announce counts a track of the participant's own, by hash. Its error is an InvalidError.
func (s *spending) announce(track uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.announced[track] >= maxSameTrack {
		return invalid("the same track is announced more than %d times", maxSameTrack)
	}
	s.announced[track]++
	return nil
}

// takeAnswer reports whether an answer of so many bytes can be one to what the media server has sent since the last. LiveKit keeps about twice
// as many bytes as an answer has.
func (s *spending) takeAnswer(length int) bool {
	return int64(length) <= maxFirstAnswer+2*s.heard.Swap(0)
}

func (s *spending) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.announced)
}

// departure is how long what a participant has spent counts after its last connection.
const departure = 2 * time.Minute

// ledger has the spending of participants. It is safe for concurrent use.
type ledger struct {
	mu  sync.Mutex
	all map[string]*spending
}

// open returns the spending of a participant who has one more connection. When the connection ends, closed must be called. A participant who
// does not resume is another one to LiveKit.
func (l *ledger) open(participant string, resumes bool) (s *spending, closed func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s = l.all[participant]; s == nil {
		s = newSpending()
		s.forget = time.AfterFunc(departure, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if s.connections == 0 {
				delete(l.all, participant)
			}
		})
		l.all[participant] = s
	}
	s.forget.Stop()
	s.connections++
	if !resumes {
		s.enter()
	}
	return s, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.connections--; s.connections == 0 {
			s.forget.Reset(departure)
		}
	}
}
