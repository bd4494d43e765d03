// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// distant is an engine with many rooms, all in use, whose answers take a time.
type distant struct {
	engine.Engine
	delay time.Duration
	rooms []engine.Room
	// limit is how many calls it takes in each second; 0 is no limit.
	limit int

	mu sync.Mutex
	// seen are the last looks into each room.
	seen                   map[engine.RoomName]time.Time
	calls, refused, listed int
	// turned is how often it came into reach or went out of it.
	turned   int
	second   time.Time
	inSecond int
}

func newDistant(delay time.Duration, rooms int) *distant {
	d := &distant{delay: delay, seen: map[engine.RoomName]time.Time{}}
	for i := range rooms {
		d.rooms = append(d.rooms, engine.Room{Name: roomName("a", fmt.Sprintf("m%05d", i)), Participants: 1})
	}
	return d
}

// answer takes as long as a call does.
func (d *distant) answer(ctx context.Context) error {
	select {
	case <-time.After(d.delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if now := time.Now().Truncate(time.Second); now != d.second {
		d.second, d.inSecond = now, 0
	}
	if d.inSecond++; d.limit > 0 && d.inSecond > d.limit {
		d.refused++
		return fault.Unavailable("too many").Because(engine.ErrTooManyCalls)
	}
	return nil
}

// Rooms lists all.
func (d *distant) Rooms(ctx context.Context, _ engine.RoomName) ([]engine.Room, error) {
	d.mu.Lock()
	d.listed++
	d.mu.Unlock()
	return d.rooms, d.answer(ctx)
}

// Participants lists one, and notes the look.
func (d *distant) Participants(ctx context.Context, name engine.RoomName) ([]engine.Participant, error) {
	if err := d.answer(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[name] = time.Now()
	return []engine.Participant{{Identity: "anna", JoinedAt: monday}}, nil
}

// Present knows everybody.
func (d *distant) Present(ctx context.Context, _ engine.RoomName, _ engine.Identity) (bool, error) {
	return true, d.answer(ctx)
}

// oldest is for how long the room that has waited longest has not been looked into; since when nothing was seen counts.
func (d *distant) oldest(since time.Time) (oldest time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.rooms {
		at := d.seen[r.Name]
		if at.IsZero() {
			at = since
		}
		oldest = max(oldest, time.Since(at))
	}
	return oldest
}

func (d *distant) lists() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.listed
}

func (d *distant) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.seen)
}

func (d *distant) seenAt(name engine.RoomName) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen[name]
}

// lively has a live Meeting for each room.
type lively struct{}

// WithUID finds any.
func (lively) WithUID(uid string) *v1alpha1.Meeting {
	m := &v1alpha1.Meeting{Status: v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingActive}}
	m.UID = types.UID(uid)
	return m
}

// ByUID is for ends.
func (lively) ByUID(*tenant.Tenant, string) (meeting.View, bool) {
	return meeting.View{}, false
}

// quiet are the Options of an observer that tells nobody what it sees, with a live Meeting for each room.
func quiet(tenants Tenants) Options {
	ignore := func(*v1alpha1.Meeting) {}
	return Options{
		Tenants: tenants, MediaServers: mediaServers{tenants}, Meetings: lively{}, LoadOf: func(types.NamespacedName) int { return 1 }, Now: time.Now, Log: logr.Discard(), CallsPerSecond: DefaultCallsPerSecond,
		Changed: ignore, Details: ignore, ReachChanged: func(types.NamespacedName) {}, MediaChanged: func(types.NamespacedName) {},
	}
}

// observe runs an observer of one engine, for as long as the test does something, in a synctest bubble.
func observe(t *testing.T, d *distant, do func(o *Observer, pass func(time.Duration))) {
	t.Helper()
	observeWith(t, d, d, func(*Options) {}, do)
}

func observeWith(t *testing.T, d *distant, e engine.Engine, change func(*Options), do func(o *Observer, pass func(time.Duration))) {
	t.Helper()
	tenants := &looker{tenants: []*tenant.Tenant{{
		NamespacedName: types.NamespacedName{Namespace: "ns", Name: "a"}, UID: "a",
		Media: []*tenant.Media{{Server: engine.Server{URL: "http://a"}, Engine: e}},
	}}}
	options := quiet(tenants)
	change(&options)
	options.ReachChanged = func(types.NamespacedName) { d.mu.Lock(); defer d.mu.Unlock(); d.turned++ }
	o := New(options)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = o.Start(ctx) }()
	do(o, func(d time.Duration) { <-time.After(d); synctest.Wait() })
	stop()
	<-ended
}

// Every room is seen again and again, however many there are and however long an answer takes, and a room that a
// webhook came is seen soon.
func TestEveryRoomIsSeen(t *testing.T) {
	for _, tc := range []struct {
		delay time.Duration
		rooms int
		// within is when each has been seen first, between the longest time from then on.
		within, between time.Duration
	}{
		{5 * time.Millisecond, 100, time.Second, 3 * time.Second},
		{100 * time.Millisecond, 600, 4 * time.Second, 5 * time.Second},
		{50 * time.Millisecond, 1200, 4 * time.Second, 5 * time.Second},
		{5 * time.Millisecond, 10_000, 20 * time.Second, 21 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d rooms, %s a call", tc.rooms, tc.delay), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDistant(tc.delay, tc.rooms)
				observe(t, d, func(o *Observer, pass func(time.Duration)) {
					began := time.Now()
					pass(tc.within)
					if n := d.count(); n != tc.rooms {
						t.Fatalf("%d of %d have been seen within %s", n, tc.rooms, tc.within)
					}
					for i := range 60 {
						hinted, at := d.rooms[(i*7919)%len(d.rooms)].Name, time.Now()
						o.Hint(hinted)
						pass(2 * time.Second)
						if seen := d.seenAt(hinted); seen.Before(at) {
							t.Errorf("after %s: a room of which a webhook came has not been seen for two seconds", time.Since(began))
						}
						if oldest := d.oldest(began); oldest > tc.between {
							t.Fatalf("after %s: a room has not been seen for %s", time.Since(began), oldest)
						}
					}
					if perSecond := float64(d.calls) / time.Since(began).Seconds(); perSecond > DefaultCallsPerSecond*1.2 {
						t.Errorf("%.0f calls a second", perSecond)
					}
				})
			})
		})
	}
}

// A flood of webhooks of some rooms keeps no other room from being seen.
func TestEveryRoomIsSeenUnderAFloodOfHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDistant(5*time.Millisecond, 3000)
		observe(t, d, func(o *Observer, pass func(time.Duration)) {
			began := time.Now()
			for range 120 {
				for _, r := range d.rooms[:1500] {
					o.Hint(r.Name)
				}
				pass(500 * time.Millisecond)
			}
			if oldest := d.oldest(began); oldest > 30*time.Second {
				t.Errorf("a room has not been seen for %s", oldest)
			}
		})
	})
}

// TestHintsLeaveTheListOfRooms: however often webhooks come, the rooms are listed each second. What no webhook tells depends on that.
func TestHintsLeaveTheListOfRooms(t *testing.T) {
	for _, each := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 300 * time.Millisecond, time.Second} {
		t.Run(each.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDistant(5*time.Millisecond, 100)
				observe(t, d, func(o *Observer, pass func(time.Duration)) {
					before := d.lists()
					for began := time.Now(); time.Since(began) < time.Minute; pass(each) {
						o.Hint(d.rooms[0].Name)
					}
					if n := d.lists() - before; n < 50 || n > 66 {
						t.Errorf("%d lists in a minute with a webhook every %s", n, each)
					}
				})
			})
		})
	}
}

// cleared has rooms of Meetings that were all deleted. A room takes a quarter of a second to close, and one in a hundred hangs.
type cleared struct {
	*distant
	open map[engine.RoomName]bool
}

func (c *cleared) Rooms(ctx context.Context, _ engine.RoomName) (list []engine.Room, err error) {
	c.mu.Lock()
	for _, r := range c.rooms {
		if c.open[r.Name] {
			list = append(list, r)
		}
	}
	c.mu.Unlock()
	return list, c.answer(ctx)
}

func (c *cleared) Close(ctx context.Context, name engine.RoomName, _ string) error {
	if strings.HasSuffix(string(name), "50") {
		<-ctx.Done()
		return ctx.Err()
	}
	<-time.After(250 * time.Millisecond)
	if err := c.answer(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, name)
	return nil
}

func (c *cleared) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// gone remembers every Meeting as deleted, but those of a few rooms, of which nothing is known. The API server does not answer.
type gone struct{}

func (gone) WithUID(string) *v1alpha1.Meeting { return nil }

func (gone) ByUID(_ *tenant.Tenant, uid string) (meeting.View, bool) {
	return meeting.View{UID: uid, Ended: true}, !strings.HasSuffix(uid, "77")
}

// silent is an API server that does not answer.
type silent struct{ client.Reader }

func (silent) List(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestManyDeletedMeetingsAreClosedSoon: deletions are ends. Rooms that hang and rooms of which nothing is known hold up no other.
func TestManyDeletedMeetingsAreClosedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cleared{distant: newDistant(5*time.Millisecond, 2000), open: map[engine.RoomName]bool{}}
		for _, r := range c.rooms {
			c.open[r.Name] = true
		}
		observeWith(t, c.distant, c, func(options *Options) { options.Meetings, options.API = gone{}, silent{} }, func(_ *Observer, pass func(time.Duration)) {
			pass(20 * time.Second)
			if left := c.left(); left > 40 {
				t.Errorf("%d rooms are open after 20 seconds, of which 20 hang and nothing is known of 20", left)
			}
		})
	})
}

// A server that takes fewer calls gets fewer. It is not away for that, and its rooms are seen more seldom.
func TestThrottledIsSlowerNotAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDistant(5*time.Millisecond, 100)
		d.limit = 16
		observe(t, d, func(o *Observer, pass func(time.Duration)) {
			began := time.Now()
			pass(2 * time.Minute)
			d.mu.Lock()
			calls, refused := d.calls, d.refused
			d.mu.Unlock()
			for range 60 {
				pass(5 * time.Second)
				if oldest := d.oldest(began); oldest > time.Minute {
					t.Fatalf("after %s: a room has not been seen for %s", time.Since(began), oldest)
				}
				if seen := o.Seen(&tenant.Media{Server: engine.Server{URL: "http://a"}}, d.rooms[0].Name); !seen.Known || !seen.UnavailableSince.IsZero() {
					t.Fatalf("after %s: seen is %+v", time.Since(began), seen)
				}
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.turned > 1 {
				t.Errorf("it went or came %d times", d.turned)
			}
			calls, refused = d.calls-calls, d.refused-refused
			if float64(refused) > 0.2*float64(calls) {
				t.Errorf("%d of %d calls were refused", refused, calls)
			}
		})
	})
}

// Rooms of other installations, and of tenants who reach the same LiveKit with another key, are not looked into.
func TestStrangersRoomsCostNothing(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	mediaB, other := l.engine("b")
	mediaB.Server = engine.Server{URL: "http://a", Key: "another"}
	f.ShareRooms(other)
	for _, name := range []string{"m1", "m2", "m3"} {
		l.meeting(name, v1alpha1.MeetingActive)
	}
	f.Set(roomName("a", "m1"), "anna")
	f.Set(roomName("b", "m2"), "bob")
	f.Set(roomName("another-installation", "m3"), "carl")
	l.pass(0)
	l.passes(4 * time.Second)
	looked := func(f *faultyengine.Engine) []string {
		into := slices.DeleteFunc(f.Took(), func(call string) bool { return !strings.HasPrefix(call, "participants ") })
		slices.Sort(into)
		return slices.Compact(into)
	}
	for f, want := range map[*faultyengine.Engine]engine.RoomName{f: roomName("a", "m1"), other: roomName("b", "m2")} {
		if got := looked(f); !slices.Equal(got, []string{"participants " + string(want)}) {
			t.Errorf("looked into %q, want %s alone", got, want)
		}
	}
}

// The cluster's clock is set back: rooms are looked into as before.
func TestClockSetBackDoesNotStopLooks(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	f.Set(roomName("a", "m"), "anna")
	l.pass(0)
	l.env.Now = func() time.Time { return l.now().Add(-10 * time.Minute) }
	f.Took()
	l.passes(4 * time.Second)
	if n := strings.Count(strings.Join(f.Took(), " "), "participants "); n != 2 {
		t.Errorf("in four seconds after the clock was set back the room was looked into %d times, want 2", n)
	}
}

// A hint is used up by a look that was answered, not by one that failed.
func TestHintStaysUntilTheLook(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	f.Set(roomName("a", "m"))
	l.pass(0)
	f.Break("participants", faultyengine.ErrUnavailable)
	l.Hint(roomName("a", "m"))
	l.pass(time.Second)
	f.Break("participants", nil)
	f.Took()
	l.pass(time.Second)
	l.pass(time.Second)
	if n := strings.Count(strings.Join(f.Took(), " "), "participants "); n != 1 {
		t.Errorf("looked into %d times, want once more after the look that failed", n)
	}
}

// A list that was refused as one call too many tells nothing new: what was seen stays, and the time does not count as seen.
func TestRefusedListIsNoAbsence(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	f.Set(roomName("a", "m"), "anna")
	l.pass(0)
	l.heard()
	f.Break("rooms", fault.Unavailable("too many").Because(engine.ErrTooManyCalls))
	l.pass(time.Second)
	l.pass(time.Second)
	seen := l.Seen(media, roomName("a", "m"))
	if _, err := l.Reach(media.Server); err != nil || !seen.Known || !seen.UnavailableSince.IsZero() || names(seen.Participants) != "anna" {
		t.Errorf("seen is %+v, error %v", seen, err)
	}
	f.Break("rooms", nil)
	l.pass(time.Second)
	if blind := l.Seen(media, roomName("a", "m")).Outages; !slices.Equal(blind, []meeting.Span{span(0, 3)}) {
		t.Errorf("blind times are %v", blind)
	}
	if _, turned := l.heard(); len(turned) != 0 {
		t.Errorf("it turned: %q", turned)
	}
}
