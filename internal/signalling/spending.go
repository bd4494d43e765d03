// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/time/rate"
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
	ofBytes:    {256 << 10, 2 * maxMessage},
	ofMessages: {50, 300},
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
)

// spending is what one participant has spent, over all its connections: LiveKit keeps what it has of a participant whose
// connection is lost. It is safe for concurrent use.
type spending struct {
	limiters [budgets]*rate.Limiter

	mu sync.Mutex
	// named are the tracks of others, and announced how often each of the participant's own, both by hash.
	named     map[uint64]struct{}
	announced map[uint64]int

	// connections and forget belong to the ledger.
	connections int
	forget      *time.Timer
}

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
func (s *spending) name(ctx context.Context, tracks []uint64) error {
	fresh := s.newOf(tracks)
	if err := s.take(ctx, ofOthers, len(fresh)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, track := range fresh {
		if len(s.named) >= maxNamed {
			clear(s.named)
		}
		s.named[track] = struct{}{}
	}
	return nil
}

// newOf returns the tracks that were not named before.
func (s *spending) newOf(tracks []uint64) (fresh []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, track := range tracks {
		if _, known := s.named[track]; !known {
			fresh = append(fresh, track)
		}
	}
	return fresh
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
