// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"iter"
	"maps"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/engine"
)

// When one of several LiveKit servers over one Redis is killed, its participants stay listed for as long as the room is there.
// A participant who is listed and did not answer twice is not counted.
const (
	// presenceEvery is how often one participant of each room is checked.
	presenceEvery = 30 * time.Second
	// askAgainAfter is when a participant who did not answer is checked again. One who did not answer twice is a ghost.
	askAgainAfter = 10 * time.Second
	// parallelAsks bounds questions to one engine at once. Those about ghosts take three seconds each.
	parallelAsks = 64
)

// stay is one stay of a participant in a room. A participant who comes back has another.
type stay struct {
	identity engine.Identity
	joined   int64
}

func stayOf(p engine.Participant) stay { return stay{p.Identity, p.JoinedAt.UnixMilli()} }

// presence is what is known of the participants who are really in a room.
type presence struct {
	// listed are those that the engine lists, counted is how many it counts, without hidden ones.
	listed  []engine.Participant
	counted int
	// missing are those that did not answer.
	missing map[stay]absence
	// called is when a participant was last checked. all says that all have to be.
	called time.Time
	all    bool
}

// absence is since when a participant has not answered, and until when that is known.
type absence struct{ since, last time.Time }

func (a absence) isGhost() bool { return a.last.Sub(a.since) >= askAgainAfter }

// withoutGhosts remembers whom the media server lists in a room, and leaves the ghosts out.
func (s *server) withoutGhosts(name engine.RoomName, listed []engine.Participant) []engine.Participant {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms.listed[name]
	if r == nil {
		return listed
	}
	there := r.presence.list(listed)
	s.rooms.doubt(name)
	return there
}

// checkPresence asks the media server about the participants that are due for a check.
func (s *server) checkPresence(ctx context.Context) {
	var asks errgroup.Group
	asks.SetLimit(parallelAsks)
	for name, participants := range s.toAsk() {
		for _, p := range participants {
			asks.Go(func() error {
				there, err := s.engine.Present(ctx, name, p.Identity)
				if err == nil && s.answered(name, p, there) {
					s.env.Log.Info("A participant is listed and does not answer; the LiveKit node is gone", "room", name, "identity", p.Identity)
				}
				return nil
			})
		}
	}
	_ = asks.Wait()
}

// toAsk are the participants to check now, by room: those of the rooms that waited longest, as many as the budget allows.
func (s *server) toAsk() map[engine.RoomName][]engine.Participant {
	now := s.env.monotonic()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reach.answers() {
		return nil
	}
	all, count := map[engine.RoomName][]engine.Participant{}, 0
	most := s.pace.mayAsk(now)
	for _, names := range []iter.Seq[engine.RoomName]{s.rooms.asks.due(now.Add(-presenceEvery)), maps.Keys(s.rooms.inDoubt)} {
		for name := range names {
			if count >= most {
				break
			}
			if all[name] != nil {
				continue
			}
			s.rooms.asks.last(name, now)
			if due := s.rooms.listed[name].presence.due(now); len(due) > 0 {
				all[name] = due
				count += len(due)
			}
			s.rooms.doubt(name)
		}
	}
	s.pace.ask(now, count)
	return all
}

// answered keeps an answer and says whether the participant is a ghost from now on.
func (s *server) answered(name engine.RoomName, p engine.Participant, there bool) (ghost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms.listed[name]
	if r == nil {
		return false
	}
	ghost = r.presence.answered(s.env.monotonic(), p, there)
	s.rooms.doubt(name)
	return ghost
}

// list remembers whom the media server lists, and leaves the ghosts out.
func (r *presence) list(listed []engine.Participant) []engine.Participant {
	r.listed = listed
	if len(r.missing) == 0 {
		return listed
	}
	there, missing := make([]engine.Participant, 0, len(listed)), map[stay]absence{}
	for _, p := range listed {
		if absent, ok := r.missing[stayOf(p)]; ok {
			missing[stayOf(p)] = absent
			if absent.isGhost() {
				continue
			}
		}
		there = append(there, p)
	}
	r.missing = missing
	return there
}

// isInDoubt reports whether participants did not answer, or more are listed than the engine counts.
func (r *presence) isInDoubt() bool {
	visible := 0
	for _, p := range r.listed {
		if !p.Hidden {
			visible++
		}
	}
	return r.all || len(r.missing) > 0 || visible > r.counted
}

// due are the participants to check: those who did not answer the last time, all where one has just not answered or more are
// listed than the engine counts, else one.
func (r *presence) due(now time.Time) []engine.Participant {
	var again, others []engine.Participant
	visible := 0
	for _, p := range r.listed {
		absent, missing := r.missing[stayOf(p)]
		switch {
		case !missing:
			others = append(others, p)
			if !p.Hidden {
				visible++
			}
		case now.Sub(absent.last) >= askAgainAfter:
			again = append(again, p)
		}
	}
	due := now.Sub(r.called) >= presenceEvery
	tooMany := visible > r.counted && now.Sub(r.called) >= askAgainAfter
	switch {
	case len(others) == 0 || (!r.all && !due && !tooMany):
		return again
	case !r.all && !tooMany:
		others = others[rand.IntN(len(others)):][:1] //nolint:gosec // keeps no secret
	}
	r.called, r.all = now, false
	return append(again, others...)
}

// answered keeps an answer and says whether the participant is a ghost from now on.
func (r *presence) answered(now time.Time, p engine.Participant, there bool) (ghost bool) {
	if there {
		delete(r.missing, stayOf(p))
		return false
	}
	absent, before := r.missing[stayOf(p)]
	was := absent.isGhost()
	if !before {
		absent.since = now
		r.all = true
	}
	absent.last = now
	if r.missing == nil {
		r.missing = map[stay]absence{}
	}
	r.missing[stayOf(p)] = absent
	return !was && absent.isGhost()
}
