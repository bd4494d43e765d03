// SPDX-License-Identifier: Apache-2.0

// Package faultyengine is a media server that fails, hangs and forgets when a test says so. That is all it is for: what
// LiveKit does is tested with LiveKit.
package faultyengine

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// Monday is when all participants have joined.
var Monday = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// ErrUnavailable is what a verb can be broken with.
var ErrUnavailable = fault.Unavailable("LiveKit does not answer")

// Engine is such a media server. Its verbs are rooms, room, participants, present, found, ensure, close and act.
type Engine struct {
	// mu is shared with the engines that show the same rooms.
	mu    *sync.Mutex
	rooms map[engine.RoomName][]engine.Participant
	// sids are the SIDs of rooms that were asked for.
	sids map[engine.RoomName]string
	// states are what the rooms' pages were told last.
	states map[engine.RoomName]engine.RoomState
	// fail makes a verb fail, hang makes it wait for the channel.
	fail map[string]error
	hang map[string]chan struct{}
	// ghosts are listed and not there.
	ghosts []engine.Identity
	// calls are the verbs with their rooms, in order.
	calls []string
	// did are the actions that succeeded, in order.
	did []engine.Action
	// redirects are where the participants of rooms that were closed were sent.
	redirects map[engine.RoomName]string
}

// New makes an Engine without rooms.
func New() *Engine {
	return &Engine{
		mu:    new(sync.Mutex),
		rooms: map[engine.RoomName][]engine.Participant{}, sids: map[engine.RoomName]string{}, states: map[engine.RoomName]engine.RoomState{},
		fail: map[string]error{}, hang: map[string]chan struct{}{}, redirects: map[engine.RoomName]string{},
	}
}

// Set puts participants into a room, which is made.
func (f *Engine) Set(room engine.RoomName, names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	participants := []engine.Participant{}
	for _, name := range names {
		participants = append(participants, engine.Participant{Identity: engine.Identity(name), Name: name, JoinedAt: Monday})
	}
	f.rooms[room] = participants
}

// Rejoin has the first participant of a room joined again.
func (f *Engine) Rejoin(room engine.RoomName, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rooms[room][0].JoinedAt = at
}

// Tell sets what the pages of a room were told.
func (f *Engine) Tell(room engine.RoomName, state engine.RoomState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[room] = state
}

// Told is what the pages of a room were told last.
func (f *Engine) Told(room engine.RoomName) engine.RoomState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states[room]
}

// Left are the rooms that are there.
func (f *Engine) Left() []engine.RoomName {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.rooms))
}

// SentTo is where the participants of a room that was closed were sent.
func (f *Engine) SentTo(room engine.RoomName) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.redirects[room]
}

// ShareRooms has another Engine show the same rooms, as one media server does with two keys.
func (f *Engine) ShareRooms(other *Engine) {
	other.mu, other.rooms, other.sids, other.states = f.mu, f.rooms, f.sids, f.states
}

// room is a room that is there. The caller holds the lock.
func (f *Engine) room(name engine.RoomName) engine.Room {
	if f.sids[name] == "" {
		f.sids[name] = "RM_" + rand.Text()
	}
	return engine.Room{Name: name, SID: f.sids[name], Participants: len(f.rooms[name]), State: f.states[name]}
}

// remove takes a room away. The caller holds the lock.
func (f *Engine) remove(name engine.RoomName) {
	delete(f.rooms, name)
	delete(f.sids, name)
	delete(f.states, name)
}

// Lose forgets all rooms, as a LiveKit without Redis does when it starts again.
func (f *Engine) Lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.rooms)
	clear(f.sids)
	clear(f.states)
}

// Break has a verb fail; with a nil error it succeeds again.
func (f *Engine) Break(verb string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail[verb] = err
	if verb == "rooms" {
		f.fail["room"] = err // They are one call to LiveKit.
	}
}

// Hang has a verb wait until the channel is closed, or the caller gives up.
func (f *Engine) Hang(verb string) (until chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hang[verb] = make(chan struct{})
	return f.hang[verb]
}

// Haunt has these participants, and no others, not answer.
func (f *Engine) Haunt(names ...engine.Identity) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ghosts = names
}

// Took are the calls since the last time.
func (f *Engine) Took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

// Count is how many of the calls since the last Took begin so.
func (f *Engine) Count(prefix string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, call := range f.calls {
		if strings.HasPrefix(call, prefix) {
			n++
		}
	}
	return n
}

// do runs a verb, under its faults.
func (f *Engine) do(ctx context.Context, verb string, room engine.RoomName, act func() error) error {
	f.mu.Lock()
	hang := f.hang[verb]
	f.calls = append(f.calls, strings.TrimSpace(verb+" "+string(room)))
	f.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fail[verb]; err != nil {
		return err
	}
	return act()
}

// Rooms lists.
func (f *Engine) Rooms(ctx context.Context, prefix engine.RoomName) (rooms []engine.Room, err error) {
	err = f.do(ctx, "rooms", "", func() error {
		for _, name := range slices.Sorted(maps.Keys(f.rooms)) {
			if strings.HasPrefix(string(name), string(prefix)) {
				rooms = append(rooms, f.room(name))
			}
		}
		return nil
	})
	return rooms, err
}

// Room finds one.
func (f *Engine) Room(ctx context.Context, name engine.RoomName) (room engine.Room, there bool, err error) {
	err = f.do(ctx, "room", name, func() error {
		if _, there = f.rooms[name]; there {
			room = f.room(name)
		}
		return nil
	})
	return room, there, err
}

// Participants lists.
func (f *Engine) Participants(ctx context.Context, room engine.RoomName) (participants []engine.Participant, err error) {
	err = f.do(ctx, "participants", room, func() error {
		participants = slices.Clone(f.rooms[room])
		return nil
	})
	return participants, err
}

// Present knows ghosts.
func (f *Engine) Present(ctx context.Context, room engine.RoomName, who engine.Identity) (there bool, err error) {
	err = f.do(ctx, "present", room, func() error {
		there = indexOf(f.rooms[room], who) >= 0 && !slices.Contains(f.ghosts, who)
		return nil
	})
	return there, err
}

// Ensure makes.
func (f *Engine) Ensure(ctx context.Context, room engine.RoomName, _ engine.RoomOptions, state engine.RoomState) error {
	return f.do(ctx, "ensure", room, func() error {
		f.rooms[room], f.states[room] = append(f.rooms[room], []engine.Participant{}...), state
		return nil
	})
}

// Close deletes.
func (f *Engine) Close(ctx context.Context, room engine.RoomName, redirect string) error {
	return f.do(ctx, "close", room, func() error {
		f.remove(room)
		f.redirects[room] = redirect
		return nil
	})
}

// Drop deletes.
func (f *Engine) Drop(ctx context.Context, room engine.RoomName) error {
	return f.do(ctx, "drop", room, func() error {
		f.remove(room)
		return nil
	})
}

// Act does what can be seen in the lists of rooms and participants.
func (f *Engine) Act(ctx context.Context, room engine.RoomName, action engine.Action) error {
	return f.do(ctx, "act", room, func() error {
		people, there := f.rooms[room]
		people, err := Act(people, action)
		if to, ok := action.(engine.Announce); ok && to.To != "" && !there {
			err = errNotFound
		}
		if err != nil {
			return err
		}
		f.did = append(f.did, action)
		if tell, ok := action.(engine.Tell); ok && there {
			f.states[room] = tell.State
		}
		if there {
			f.rooms[room] = people
		}
		return nil
	})
}

var errNotFound = fault.NotFound("The media server does not have that room or participant")

// Act returns the participants of a room after an action, as LiveKit would list them. What was muted stays as it was.
func Act(people []engine.Participant, action engine.Action) ([]engine.Participant, error) {
	change := func(who engine.Identity, change func(*engine.Participant) error) ([]engine.Participant, error) {
		i := indexOf(people, who)
		if i < 0 {
			return people, errNotFound
		}
		changed := slices.Clone(people) // Answers of before hold the old ones.
		return changed, change(&changed[i])
	}
	switch a := action.(type) {
	case engine.SetRights:
		return change(a.Who, func(p *engine.Participant) error {
			p.Presenter, p.Promoted, p.Forbidden, p.Held = a.Presenter, a.Promoted, a.Forbidden, a.Held
			p.Audio, p.Video = p.Audio && !a.Forbidden.Has(engine.Microphone), p.Video && !a.Forbidden.Has(engine.Camera)
			p.Screen = p.Screen && !a.Forbidden.Has(engine.Screen)
			return nil
		})
	case engine.Mute:
		return change(a.Who, func(*engine.Participant) error { return nil })
	case engine.Unmute:
		return change(a.Who, func(*engine.Participant) error { return nil })
	case engine.Hand:
		return change(a.Who, func(p *engine.Participant) error {
			p.Hand = a.Raised
			return nil
		})
	case engine.Admit:
		return change(a.Who, func(p *engine.Participant) error {
			p.Admitted = true
			return nil
		})
	case engine.Write:
		return change(a.Who, func(p *engine.Participant) error {
			if p.Message != "" && p.Message != a.Message {
				return fault.Conflict("This participant has written another message already")
			}
			p.Message = a.Message
			return nil
		})
	case engine.Remove:
		return slices.DeleteFunc(slices.Clone(people), func(p engine.Participant) bool { return p.Identity == a.Who }), nil
	}
	return people, nil
}

func indexOf(people []engine.Participant, who engine.Identity) int {
	return slices.IndexFunc(people, func(p engine.Participant) bool { return p.Identity == who })
}

// Did are the actions since the last time.
func (f *Engine) Did() []engine.Action {
	f.mu.Lock()
	defer f.mu.Unlock()
	did := f.did
	f.did = nil
	return did
}

// Seat makes a room with these participants, or replaces those who are in.
func (f *Engine) Seat(room engine.RoomName, people ...engine.Participant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rooms[room] = people
}

// Grant is not for these tests.
func (*Engine) Grant(engine.Grant) (string, error) { return "", errors.New("not here") }

// Inspect is not for these tests.
func (*Engine) Inspect(string) (engine.Bearer, error) { return engine.Bearer{}, errors.New("not here") }

// Limit is not for these tests.
func (*Engine) Limit(string, engine.Rights) (string, error) { return "", errors.New("not here") }

// KeyOf is not for these tests.
func (*Engine) KeyOf(string) string { return "" }

// Signed is not for these tests.
func (*Engine) Signed(string) bool { return false }

// Hint is not for these tests.
func (*Engine) Hint(string, []byte) (engine.RoomName, error) { return "", errors.New("not here") }
