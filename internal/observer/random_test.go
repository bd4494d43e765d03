// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// story is what happens in the life of a Meeting.
type story struct {
	one      bool // both media servers are one LiveKit
	duration v1alpha1.Duration
	events   []event
}

// event is what happens to a media server, "a" or "b", to a person, or to neither, and the time until the next.
type event struct {
	who, what string
	pause     time.Duration
}

func (s *story) String() string {
	said := []string{fmt.Sprintf("story{%t, %q, []event{", s.one, s.duration)}
	for _, e := range s.events {
		said = append(said, fmt.Sprintf("\t{%q, %q, %d * time.Second},", e.who, e.what, e.pause/time.Second))
	}
	return strings.Join(append(said, "}}"), "\n")
}

// errThrottled is what LiveKit answers to too many calls.
var errThrottled = fault.Unavailable("too many").Because(engine.ErrTooManyCalls)

// toPlaces is what happens to media servers, toPeople what people do, and toAll all else.
var (
	toPlaces = map[string]func(*placedLife, *place){
		"is out of sight":    func(_ *placedLife, p *place) { p.reach(faultyengine.ErrUnavailable) },
		"refuses the key":    func(_ *placedLife, p *place) { p.reach(errRefused) },
		"wants fewer calls":  func(_ *placedLife, p *place) { p.reach(errThrottled) },
		"answers":            func(_ *placedLife, p *place) { p.reach(nil) },
		"restarts":           func(l *placedLife, p *place) { l.lose(p) },
		"goes down, or up":   func(l *placedLife, p *place) { l.lose(p); l.setDown(p, !p.down) },
		"drains, or not":     func(_ *placedLife, p *place) { p.media.Draining = !p.media.Draining },
		"is retired, or not": func(_ *placedLife, p *place) { p.media.Retired = !p.media.Retired },
		"is missing, or not": func(_ *placedLife, p *place) { p.missing = !p.missing },
		"gets another name": func(_ *placedLife, p *place) {
			p.deleted = append(p.deleted, p.media.Name)
			p.media.Name.Name += "'"
		},
	}
	toPeople = map[string]func(*placedLife, string){
		"comes": func(l *placedLife, who string) {
			if _, there := l.in[who]; !there {
				l.in[who] = nil
			}
		},
		"leaves": func(l *placedLife, who string) { delete(l.in, who) },
	}
	toAll = map[string]func(*placedLife){
		"all leave":                      func(l *placedLife) { clear(l.in) },
		"another manager leads":          (*placedLife).begin,
		"the reconciler is late, or not": func(l *placedLife) { l.late = !l.late },
		"the meeting is to end":          (*placedLife).end,
	}
	places, people = []string{"a", "b"}, []string{"anna", "bob", "carl"}
	pauses         = []time.Duration{step, 2 * step, 10 * time.Second, 66 * time.Second, 66 * time.Second, 3 * time.Minute}
)

func randomStory(random *rand.Rand) *story {
	s := &story{one: random.IntN(4) == 0, events: []event{{"anna", "comes", 10 * time.Second}}}
	if random.IntN(4) == 0 {
		s.duration = "10m"
	}
	for len(s.events) < 30 {
		e := event{pause: pick(random, pauses)}
		switch n := random.IntN(100); {
		case n < 30:
			e.who, e.what = pick(random, places), pick(random, []string{"is out of sight", "answers"})
		case n < 66:
			e.who, e.what = pick(random, places), pick(random, slices.Sorted(maps.Keys(toPlaces)))
		case n < 84:
			e.who, e.what = pick(random, people), pick(random, slices.Sorted(maps.Keys(toPeople)))
		default:
			e.what = pick(random, slices.Sorted(maps.Keys(toAll)))
		}
		s.events = append(s.events, e)
	}
	return s
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// lose has a media server lose its rooms: those who are in try to come in again.
func (l *placedLife) lose(p *place) {
	p.Lose()
	for name, at := range l.in {
		if at != nil && l.same(at, p) {
			l.in[name] = nil
		}
	}
}

// setDown starts or stops a media server, by all its addresses.
func (l *placedLife) setDown(p *place, down bool) {
	for _, q := range l.places {
		if l.same(p, q) {
			q.down = down
			q.reach(q.fault)
		}
	}
}

func (l *placedLife) end() { l.m.Spec.End = &v1alpha1.MeetingEnd{} }

// live lives a life, in the end of which all is well and the Meeting is to end, and counts in met what it has met.
func live(t testing.TB, s *story, met map[string]int) {
	l := newPlacedLife(t, s.one)
	l.story, l.met = s.String(), met
	l.m.Spec.Duration = s.duration
	for _, e := range s.events {
		l.note("%s %s", e.who, e.what)
		met[e.what]++
		switch {
		case toPlaces[e.what] != nil:
			toPlaces[e.what](l, l.places[slices.Index(places, e.who)])
		case toPeople[e.what] != nil:
			toPeople[e.what](l, e.who)
		default:
			toAll[e.what](l)
		}
		l.pass(e.pause)
	}
	l.note("all is well")
	l.late = false
	for _, p := range l.places {
		l.setDown(p, false)
		p.reach(nil)
		p.missing, p.media.Retired, p.media.Draining = false, false, false
	}
	l.pass(5 * time.Minute)
	for name, at := range l.in {
		if !meeting.IsLeaving(l.m) && (at == nil || !l.same(at, l.at())) {
			l.fail("%s is not in", name)
		}
	}
	l.note("it is to end")
	l.end()
	l.pass(6 * time.Minute) // A media server that it left, by a name that nobody knows any more, is waited for.
	for _, p := range l.places {
		if l.m.Status.Phase != v1alpha1.MeetingEnded || slices.Contains(p.Left(), l.room()) || len(l.in) > 0 {
			l.fail("it is %s, and its rooms are there: %v", l.m.Status.Phase, p.Left())
		}
	}
}

// liveRandomly lives random lives. Of one that goes wrong it tells the shortest form, which becomes a row of foundLives.
func liveRandomly(t *testing.T, seeds []uint64, met map[string]int) {
	t.Helper()
	for _, seed := range seeds {
		s := randomStory(rand.New(rand.NewPCG(seed, 1)))
		if goesWrong(t, s, met) {
			t.Logf("the life of the seed %d, cut down to what matters:", seed)
			live(t, shortened(t, s), met)
		}
	}
}

// shortened leaves out of a life that goes wrong what does not matter.
func shortened(t *testing.T, s *story) *story {
	for again := true; again; {
		again = false
		for i := len(s.events) - 1; i >= 0; i-- {
			less := *s
			if less.events = slices.Delete(slices.Clone(s.events), i, i+1); goesWrong(t, &less, map[string]int{}) {
				s, again = &less, true
			}
		}
	}
	return s
}

// panics is a test whose failure is a panic.
type panics struct{ testing.TB }

func (p panics) Fatalf(string, ...any) { panic(p) }

func goesWrong(t *testing.T, s *story, met map[string]int) (wrong bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, wrong = r.(panics); !wrong {
				panic(r)
			}
		}
	}()
	live(panics{t}, s, met)
	return false
}

// foundLives are lives that once went wrong.
var foundLives = map[string]*story{
	"an end waits for a room that nobody closes": {false, "10m", []event{
		{"anna", "comes", 10 * time.Second},
		{"a", "is out of sight", 66 * time.Second},
		{"", "the reconciler is late, or not", 10 * time.Second},
		{"b", "restarts", 180 * time.Second},
		{"b", "gets another name", 66 * time.Second},
		{"b", "refuses the key", 180 * time.Second},
		{"a", "answers", 66 * time.Second},
		{"", "another manager leads", 66 * time.Second},
	}},
	"it moves away from somebody by an old look, and is empty": {false, "", []event{
		{"anna", "comes", 10 * time.Second},
		{"", "all leave", 66 * time.Second},
		{"a", "wants fewer calls", 180 * time.Second},
		{"anna", "comes", 4 * time.Second},
		{"a", "drains, or not", 66 * time.Second},
	}},
	"its room is left for a media server that takes nobody": {false, "", []event{
		{"anna", "comes", 10 * time.Second},
		{"a", "wants fewer calls", 2 * time.Second},
		{"a", "drains, or not", 10 * time.Second},
		{"a", "gets another name", 10 * time.Second},
		{"", "another manager leads", 66 * time.Second},
		{"b", "refuses the key", 10 * time.Second},
		{"a", "answers", 180 * time.Second},
		{"b", "is retired, or not", 66 * time.Second},
		{"b", "answers", 66 * time.Second},
	}},
}

// A meeting ends only for its own reasons, nobody is disconnected by what happens to media servers and managers, people find each other when
// all is well again, and every room is closed in the end.
func TestRandomLivesOverTwoMediaServers(t *testing.T) {
	met := map[string]int{}
	for name, s := range foundLives {
		t.Run(name, func(t *testing.T) { live(t, s, met) })
	}
	seeds := make([]uint64, 60)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	liveRandomly(t, seeds, met)
	want := []string{"it moves", "it moves while it remembers where it was", "sent to where the meeting is"}
	for _, reason := range []v1alpha1.EndReason{v1alpha1.EndRequested, v1alpha1.EndExpired, v1alpha1.EndEmpty} {
		want = append(want, "it ends: "+string(reason))
	}
	want = slices.Concat(want, slices.Collect(maps.Keys(toPlaces)), slices.Collect(maps.Keys(toPeople)), slices.Collect(maps.Keys(toAll)))
	for _, what := range want {
		if met[what] == 0 {
			t.Errorf("no life has met %q: the test proves nothing about it", what)
		}
	}
}
