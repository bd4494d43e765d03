// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"convene.dev/convene/internal/moderation"
	"convene.dev/convene/internal/testkit"
)

// posts is a request of a backend about a room.
func posts(path string, more map[string]any) func(*trial) request {
	return func(s *trial) request {
		body := map[string]any{"room": s.room}
		for name, value := range more {
			body[name] = value
		}
		return request{method: http.MethodPost, path: path, body: body}
	}
}

// about is a request of a backend about a live meeting, or about a participant of it.
func about(method string, who func(*trial) entry, body map[string]any) func(*trial) request {
	return func(s *trial) request {
		path := "/api/v1/meeting/" + s.room
		if who != nil {
			path += "/participants/" + who(s).You.Identity
		}
		return request{method: method, path: path, body: body}
	}
}

func toBob(s *trial) entry   { return s.bob }
func toCarol(s *trial) entry { return s.carol }

// actCommand is an act of a presenter's page.
func actCommand(action string, who func(*trial) entry, more map[string]any) command {
	return command{"act " + action, occupiedRoom, false, func(s *trial) request {
		body := map[string]any{"action": action}
		for name, value := range more {
			body[name] = value
		}
		if who != nil {
			body["identity"] = who(s).You.Identity
		}
		return request{method: http.MethodPost, path: "/session/act", session: s.ada.Session, body: body}
	}}
}

const joinPath, createPath, enterPath = "/api/v1/join", "/api/v1/meeting", "/session"

// commands are all that are about a room: of backends, of people at the door, and of presenters.
var commands = slices.Concat([]command{
	{"create a room", freshRoom, false, posts(createPath, map[string]any{"roomPassword": "sesame", "duration": "01:00:00", "redirect": "https://example.com/bye"})},
	{"create its next meeting", usedRoom, false, posts(createPath, nil)},
	{"create its next meeting with its password", usedRoom, false, posts(createPath, map[string]any{"roomPassword": "sesame"})},
	{"create what there is", liveRoom, false, posts(createPath, map[string]any{"roomPassword": "sesame"})},
	{"join a new room", freshRoom, false, posts(joinPath, map[string]any{"name": "Ada", "roomPassword": "sesame", "duration": "01:00:00"})},
	{"join its next meeting", usedRoom, false, posts(joinPath, map[string]any{"name": "Ada", "roomPassword": "sesame"})},
	{"join its next meeting without a password", usedRoom, true, posts(joinPath, map[string]any{"name": "Ada"})},
	{"join a meeting", liveRoom, false, posts(joinPath, map[string]any{"name": "Ada", "roomPassword": "sesame"})},
	{"join and set a password and a duration", bareRoom, false, posts(joinPath, map[string]any{"name": "Ada", "roomPassword": "sesame", "duration": "01:00:00"})},
	{"open a room", freshRoom, false, posts(enterPath, map[string]any{"name": "Guest"})},
	{"open its next meeting", usedRoom, false, posts(enterPath, map[string]any{"name": "Guest", "password": "sesame"})},
	{"enter by a link", liveRoom, false, func(s *trial) request {
		return request{method: http.MethodPost, path: enterPath, body: map[string]any{"ticket": s.link}}
	}},
	{"enter its next meeting by a link", usedRoom, false, func(s *trial) request {
		return request{method: http.MethodPost, path: enterPath, body: map[string]any{"ticket": s.link}}
	}},
	{"enter with the password", liveRoom, false, posts(enterPath, map[string]any{"name": "Guest", "password": "sesame"})},
	{"end a meeting", liveRoom, false, about(http.MethodDelete, nil, map[string]any{"redirect": "https://example.com/bye"})},
	{"change a meeting", liveRoom, false, about(http.MethodPatch, nil, map[string]any{
		"locked": true, "policy": map[string]any{"chat": "Presenters"}, "duration": "02:00:00", "maxParticipants": 7, "redirect": "https://example.com/later", "admission": "Ask",
	})},
	{"let all in", occupiedRoom, false, about(http.MethodPatch, nil, map[string]any{"admitAll": true})},
	{"change a participant", occupiedRoom, false, about(http.MethodPatch, toBob, map[string]any{"role": "Presenter", "muted": true, "sources": []string{"Camera"}})},
	{"admit a participant", occupiedRoom, false, about(http.MethodPatch, toCarol, map[string]any{"admitted": true})},
	{"remove a participant", occupiedRoom, false, about(http.MethodDelete, toBob, nil)},
	{"ban a participant", occupiedRoom, false, about(http.MethodDelete, toBob, map[string]any{"ban": true})},
}, actCommands())

// actCommands are all that presenters do by their page.
func actCommands() (list []command) {
	more := map[string]map[string]any{
		"policy": {"policy": map[string]any{"chat": "Presenters"}}, "admission": {"admission": "WithPresenter"},
		"announce": {"text": "Lunch"}, "end": {"redirect": "https://example.com/bye"},
	}
	for _, c := range moderation.All() {
		var who func(*trial) entry
		switch {
		case !c.Page:
			continue
		case c.Name == "admit" || c.Name == "refuse":
			who = toCarol
		case c.OnOne:
			who = toBob
		}
		list = append(list, actCommand(c.Name, who, more[c.Name]))
	}
	return list
}

func commandsWhere(is func(command) bool) []command {
	return slices.DeleteFunc(slices.Clone(commands), func(c command) bool { return !is(c) })
}

// refuse tries commands with each refusal of each of their calls. Lasts and again are whether a refusal lasts, and whether the command comes again
// before the room is looked at.
func (r *refusals) refuse(t *testing.T, commands []command, ways []failure, lasts, again []bool) {
	t.Helper()
	for _, c := range commands {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := r.learn(t, c)
			t.Logf("%d after %q:\nfrom %+v\nto   %+v", u.status, u.calls, u.before, u.after)
			for _, way := range ways {
				for i, call := range u.calls {
					if !way.of(call) {
						continue
					}
					for n := range len(lasts) * len(again) {
						f, again := refusal{way, i + 1, lasts[n/len(again)]}, again[n%len(again)]
						t.Run(fmt.Sprintf("%s at %d %s, lasting %t, again %t", way.name, f.number, call, f.lasts, again), func(t *testing.T) {
							t.Parallel()
							r.try(t, c, u, f, again)
						})
					}
				}
			}
		})
	}
}

// TestARoomIsAsItWasOrAsAsked: whatever is refused to a command, the room has afterwards what it had, or what was asked for, and the same command
// again does what was asked. These are the worst; the slow tests have all.
func TestARoomIsAsItWasOrAsAsked(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	r := newRefusals(t, 8)
	worst := []string{
		"create a room", "join its next meeting", "join its next meeting without a password", "enter its next meeting by a link",
		"join and set a password and a duration", "end a meeting", "act remove", "act lock",
	}
	r.refuse(t, commandsWhere(func(c command) bool { return slices.Contains(worst, c.name) }),
		slices.DeleteFunc(r.ways, func(w failure) bool {
			return !slices.Contains([]string{"a quota that is full", "reset, done", "given up, done"}, w.name)
		}),
		[]bool{true}, []bool{true})
}
