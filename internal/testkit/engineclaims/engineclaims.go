// SPDX-License-Identifier: Apache-2.0

// Package engineclaims asks a media server all that Convene relies on. Tests ask LiveKit and each of its doubles: the answers must be the same.
package engineclaims

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit"
)

// patience is for what must happen; nothing here is measured by it.
const patience = 20 * time.Second

// Room is the room that Answers asks for. It must not be there before.
const Room engine.RoomName = "m-1"

// answers is one line for each call, in order.
type answers struct {
	t     testing.TB
	e     engine.Engine
	lines []string
}

// Answers asks a media server all that Convene asks, and writes the answers down. Enter has anna join Room, with traits.
func Answers(t testing.TB, e engine.Engine, enter func(anna engine.Traits)) []string {
	t.Helper()
	a := &answers{t: t, e: e}
	a.rooms()
	a.look()
	a.act("where no room is", "anna")
	a.say("close what is not there: %s", a.call(func(ctx context.Context) error { return e.Close(ctx, Room, "") }))
	a.say("drop what is not there: %s", a.call(func(ctx context.Context) error { return e.Drop(ctx, Room) }))
	for range 2 {
		a.say("ensure: %s", a.call(func(ctx context.Context) error {
			return e.Ensure(ctx, Room, engine.RoomOptions{MaxParticipants: 10}, engine.RoomState{})
		}))
	}
	a.rooms()
	a.look()
	enter(engine.Traits{Chat: true, Presenter: true})
	a.await(1)
	a.act("who is in", "anna")
	a.act("who is not in", "nobody")
	a.look()
	for _, who := range []engine.Identity{"nobody", "anna"} {
		a.do("remove "+string(who), engine.Remove{Who: who})
	}
	a.await(0)
	a.say("close: %s", a.call(func(ctx context.Context) error { return e.Close(ctx, Room, "") }))
	a.rooms()
	a.look()
	return a.lines
}

func (a *answers) say(format string, args ...any) {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

// call is how a call ends.
func (a *answers) call(do func(context.Context) error) string {
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	err := do(ctx)
	switch {
	case err == nil:
		return "done"
	case fault.Is(err, fault.KindNotFound):
		return "not found"
	case fault.Is(err, fault.KindConflict):
		return "conflict"
	}
	return err.Error()
}

func (a *answers) rooms() {
	var names []string
	how := a.call(func(ctx context.Context) error {
		list, err := a.e.Rooms(ctx, "m-")
		for _, r := range list {
			names = append(names, string(r.Name))
		}
		return err
	})
	a.say("rooms: %q, %s", names, how)
}

// look is of the room and those who are in.
func (a *answers) look() {
	a.say("room: %s", a.call(func(ctx context.Context) error {
		room, there, err := a.e.Room(ctx, Room)
		a.say("there: %t, named %q, made: %t, locked: %t", there, room.Name, room.SID != "", room.State.Locked)
		return err
	}))
	a.say("participants: %s", a.call(func(ctx context.Context) error {
		people, err := a.e.Participants(ctx, Room)
		for _, p := range people {
			a.say("%s: presenter %t, hand %t, admitted %t, message %q, forbidden %d, sends %t, joined: %t",
				p.Identity, p.Presenter, p.Hand, p.Admitted, p.Message, p.Forbidden, p.Audio || p.Video || p.Screen, !p.JoinedAt.IsZero())
		}
		return err
	}))
}

// act does all that can be done to a participant.
func (a *answers) act(of string, who engine.Identity) {
	var there bool
	how := a.call(func(ctx context.Context) (err error) {
		there, err = a.e.Present(ctx, Room, who)
		return err
	})
	a.say("%s: present %t, %s", of, there, how)
	for _, action := range []engine.Action{
		engine.Tell{State: engine.RoomState{Locked: true}},
		engine.SetRights{Who: who, Rights: engine.Rights{Presenter: false, Forbidden: engine.Camera}},
		engine.Mute{Who: who, What: engine.Microphone},
		engine.Unmute{Who: who, What: engine.Microphone},
		engine.Hand{Who: who, Raised: true},
		engine.Admit{Who: who},
		engine.Write{Who: who, Message: "It is me"},
		engine.Write{Who: who, Message: "It is me"},
		engine.Write{Who: who, Message: "It is another"},
		engine.Say{Topic: "topic", Payload: []byte("{}")},
		engine.TellPresenters{Topic: "topic", Payload: []byte("{}")},
		engine.Announce{Topic: "topic", Payload: []byte("{}")},
		engine.Announce{Topic: "topic", Payload: []byte("{}"), To: who},
	} {
		a.do(of, action)
	}
}

func (a *answers) do(of string, action engine.Action) {
	what := strings.TrimPrefix(fmt.Sprintf("%T", action), "engine.")
	if to, ok := action.(engine.Announce); ok && to.To != "" {
		what += " to one"
	}
	a.say("%s: %s, %s", of, what, a.call(func(ctx context.Context) error { return a.e.Act(ctx, Room, action) }))
}

// await waits until so many are in: a media server may be a moment behind.
func (a *answers) await(count int) {
	a.t.Helper()
	testkit.Eventually(a.t, patience, func() error {
		people, err := a.e.Participants(a.t.Context(), Room)
		if err == nil && len(people) != count {
			err = fmt.Errorf("%d are in, not %d", len(people), count)
		}
		return err
	})
}

// Want is what LiveKit answers.
var Want = []string{
	"rooms: [], done",
	`there: false, named "", made: false, locked: false`,
	"room: done",
	"participants: done",
	"where no room is: present false, done",
	"where no room is: Tell, done",
	"where no room is: SetRights, not found",
	"where no room is: Mute, not found",
	"where no room is: Unmute, not found",
	"where no room is: Hand, not found",
	"where no room is: Admit, not found",
	"where no room is: Write, not found",
	"where no room is: Write, not found",
	"where no room is: Write, not found",
	"where no room is: Say, done",
	"where no room is: TellPresenters, done",
	"where no room is: Announce, done",
	"where no room is: Announce to one, not found",
	"close what is not there: done",
	"drop what is not there: done",
	"ensure: done",
	"ensure: done",
	`rooms: ["m-1"], done`,
	`there: true, named "m-1", made: true, locked: false`,
	"room: done",
	"participants: done",
	"who is in: present true, done",
	"who is in: Tell, done",
	"who is in: SetRights, done",
	"who is in: Mute, done",
	"who is in: Unmute, done",
	"who is in: Hand, done",
	"who is in: Admit, done",
	"who is in: Write, done",
	"who is in: Write, done",
	"who is in: Write, conflict",
	"who is in: Say, done",
	"who is in: TellPresenters, done",
	"who is in: Announce, done",
	"who is in: Announce to one, done",
	"who is not in: present false, done",
	"who is not in: Tell, done",
	"who is not in: SetRights, not found",
	"who is not in: Mute, not found",
	"who is not in: Unmute, not found",
	"who is not in: Hand, not found",
	"who is not in: Admit, not found",
	"who is not in: Write, not found",
	"who is not in: Write, not found",
	"who is not in: Write, not found",
	"who is not in: Say, done",
	"who is not in: TellPresenters, done",
	"who is not in: Announce, done",
	"who is not in: Announce to one, done",
	`there: true, named "m-1", made: true, locked: true`,
	"room: done",
	`anna: presenter false, hand true, admitted true, message "It is me", forbidden 2, sends false, joined: true`,
	"participants: done",
	"remove nobody: Remove, done",
	"remove anna: Remove, done",
	"close: done",
	"rooms: [], done",
	`there: false, named "", made: false, locked: false`,
	"room: done",
	"participants: done",
}
