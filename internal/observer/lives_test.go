// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// step is how far the clock of a placed life goes between two reconciles.
const step = 2 * time.Second

// place is a media server, as it is and as the manager reaches it.
type place struct {
	*faultyengine.Engine
	media tenant.Media
	// deleted are the names of its MediaServers that were deleted, and that the manager still knows.
	deleted []types.NamespacedName
	// down says that it does not run, away that the manager does not reach it, or that it refuses the key. Fault is what calls fail with
	// while it runs.
	down, away bool
	fault      error
	// missing says that the manager knows no MediaServer of it.
	missing bool
}

// takes reports whether people get into a Meeting that is here.
func (p *place) takes() bool { return !p.media.Retired && !p.down && !p.away }

// placedLife runs one Meeting with the real Observer and the real Plan over two media servers that a test lets fail. A page which loses
// its room asks where its meeting is, and enters it there, until it is told that the meeting is over.
type placedLife struct {
	*Observer
	t      testing.TB
	clock  time.Time
	config *tenant.Tenant
	places [2]*place
	one    bool // both are one LiveKit
	late   bool // the reconciler has much to do
	m      *v1alpha1.Meeting
	// in is where the people are; nil for those who try to come in.
	in   map[string]*place
	said []string
	// met counts what has been met. story is what happens.
	met   map[string]int
	story string
}

func newPlacedLife(t testing.TB, one bool) *placedLife {
	l := &placedLife{t: t, clock: monday, one: one, in: map[string]*place{}, met: map[string]int{}}
	l.config = &tenant.Tenant{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "default"}, UID: "config", Settings: meeting.DefaultSettings()}
	for i, name := range []string{"a", "b"} {
		p := &place{Engine: faultyengine.New()}
		p.media = tenant.Media{Name: types.NamespacedName{Namespace: "ns", Name: name}, Server: engine.Server{URL: "http://" + name}, Engine: p.Engine}
		l.places[i] = p
	}
	if one {
		l.places[0].ShareRooms(l.places[1].Engine)
	}
	l.m = &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "m", UID: "m", Generation: 1, CreationTimestamp: metav1.NewTime(monday), Annotations: map[string]string{},
		Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI},
	}}
	l.config.Settings.EmptyTimeout = 2 * time.Minute
	l.m.Spec.Room, l.m.Spec.ConfigRef.Name = "r", "default"
	l.begin()
	return l
}

// begin has a manager that has just started.
func (l *placedLife) begin() {
	nothing := func(*v1alpha1.Meeting) {}
	for _, p := range l.places {
		p.deleted = nil
	}
	l.Observer = New(Options{
		Tenants: l, MediaServers: mediaServers{l}, Meetings: l, LoadOf: func(types.NamespacedName) int { return 1 }, API: placedAPI{l}, Now: l.now, Log: logr.Discard(), CallsPerSecond: DefaultCallsPerSecond,
		Changed: nothing, Details: nothing, ReachChanged: func(types.NamespacedName) {}, MediaChanged: func(types.NamespacedName) {},
	})
	l.env.monotonic = l.now
}

func (l *placedLife) now() time.Time { return l.clock }

func (l *placedLife) room() engine.RoomName { return meeting.EngineRoom("config", "m") }

// All is the tenant, with the media servers that are known.
func (l *placedLife) All() []*tenant.Tenant { return []*tenant.Tenant{l.tenant()} }

func (l *placedLife) tenant() *tenant.Tenant {
	t := *l.config
	for _, p := range l.places {
		if p.missing {
			continue
		}
		media := p.media
		t.Media = append(t.Media, &media)
		for _, name := range p.deleted {
			was := media
			was.Name, was.Draining = name, true
			t.Media = append(t.Media, &was)
		}
	}
	return &t
}

func (l *placedLife) WithUID(uid string) *v1alpha1.Meeting {
	if uid == "m" {
		return l.m
	}
	return nil
}

func (l *placedLife) ByUID(*tenant.Tenant, string) (meeting.View, bool) { return meeting.View{}, false }

type placedAPI struct{ *placedLife }

func (a placedAPI) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if m, ok := o.(*v1alpha1.Meeting); ok && key.Name == "m" {
		a.m.DeepCopyInto(m)
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (a placedAPI) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*metav1.PartialObjectMetadataList).Items = []metav1.PartialObjectMetadata{{ObjectMeta: a.m.ObjectMeta}}
	return nil
}

// reach has the verbs of a media server succeed or fail. While it is down they all fail.
func (p *place) reach(err error) {
	if p.fault = err; p.down {
		err = faultyengine.ErrUnavailable
	}
	p.away = err != nil && !errors.Is(err, engine.ErrTooManyCalls)
	for _, verb := range []string{"rooms", "participants", "present", "ensure", "close", "drop", "act"} {
		p.Break(verb, err)
	}
}

func (l *placedLife) note(format string, args ...any) {
	l.said = append(l.said, l.clock.Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (l *placedLife) fail(format string, args ...any) {
	l.t.Helper()
	l.note(format, args...)
	l.t.Fatalf("one LiveKit: %t\n%s\n%s", l.one, strings.Join(l.said, "\n"), l.story)
}

// same reports whether two places are one LiveKit.
func (l *placedLife) same(a, b *place) bool { return a == b || l.one }

// at is the place of the Meeting; nil where none is known.
func (l *placedLife) at() *place { return l.named(meeting.PlaceOf(l.m)) }

// named is the media server of a name that the manager knows.
func (l *placedLife) named(name types.NamespacedName) *place {
	for _, p := range l.places {
		if !p.missing && (p.media.Name == name || slices.Contains(p.deleted, name)) {
			return p
		}
	}
	return nil
}

// isIn reports whether somebody is at a place.
func (l *placedLife) isIn(at *place) bool {
	return slices.ContainsFunc(l.people(), func(name string) bool { return l.in[name] == at })
}

// isLeft reports whether a place is one that the Meeting left and may come back to.
func (l *placedLife) isLeft(p *place) bool {
	return !p.missing && !p.media.Retired && slices.Contains(meeting.LeftPlaces(l.m), p.media.Name)
}

// pages has each page do what it does: notice that its room has gone, and come in.
func (l *placedLife) pages() {
	seats := map[*place][]engine.Participant{}
	for _, name := range l.people() {
		if p := l.in[name]; p != nil && !slices.Contains(p.Left(), l.room()) {
			if at := l.at(); !meeting.IsLeaving(l.m) && (at == nil || l.same(at, p) || !at.takes()) {
				l.fail("%s was dropped", name)
			} else if !meeting.IsLeaving(l.m) && !l.isIn(at) && l.isLeft(p) {
				l.fail("%s was dropped, and nobody is where the meeting is", name)
			}
			l.in[name] = nil
			if !meeting.IsLeaving(l.m) {
				l.met["sent to where the meeting is"]++
			}
		}
		if meeting.IsLeaving(l.m) {
			if l.in[name] == nil {
				delete(l.in, name)
			}
			continue
		}
		if at := l.at(); l.in[name] == nil && at != nil && at.takes() {
			l.m.Annotations[v1alpha1.AnnotationRoomOpened] = "yes"
			l.in[name] = at
		}
	}
	for _, name := range l.people() {
		if p := l.in[name]; p != nil {
			if l.one {
				p = l.places[0]
			}
			seats[p] = append(seats[p], engine.Participant{Identity: engine.Identity(name), Name: name, JoinedAt: monday})
		}
	}
	for _, p := range l.places {
		if _, there := seats[p]; there || slices.Contains(p.Left(), l.room()) && (!l.one || p == l.places[0]) {
			p.Seat(l.room(), seats[p]...)
		}
	}
}

func (l *placedLife) people() []string {
	var names []string
	for name := range l.in {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pass lets time go by.
func (l *placedLife) pass(d time.Duration) {
	for until := l.clock.Add(d); l.clock.Before(until); l.clock = l.clock.Add(step) {
		l.pages()
		l.lookAll(l.t.Context())
		l.env.work.Wait()
		l.pages()
		if !l.late {
			l.reconcile()
		}
	}
}

// reconcile does what the reconciler does.
func (l *placedLife) reconcile() {
	t := l.tenant()
	in := meeting.Input{Meeting: l.m, Now: l.clock, Tenant: &meeting.Tenant{
		Settings: t.Settings, Places: t.Places(func(types.NamespacedName) int { return 0 }, func(m *tenant.Media) bool {
			_, err := l.Reach(m.Server)
			return err != nil
		}),
	}}
	in.Left = map[types.NamespacedName]meeting.Seen{}
	for _, name := range meeting.LeftPlaces(l.m) {
		in.Left[name] = l.Seen(t.MediaAt(name), l.room())
	}
	media := t.MediaAt(meeting.PlaceOf(l.m))
	look := func() { in.Seen = l.Look(l.t.Context(), media, l.room()) }
	if in.Seen = l.Seen(media, l.room()); meeting.IsLeaving(l.m) && !meeting.IsOver(l.m) {
		look()
	}
	d := meeting.Plan(in)
	if d.NeedsFreshLook {
		look()
		d = meeting.Plan(in)
	}
	l.check(d.Status, in.Seen)
	data, err := json.Marshal(d.Status)
	if err != nil {
		l.t.Fatal(err)
	}
	l.m = l.m.DeepCopy()
	l.m.Status = v1alpha1.MeetingStatus{}
	if err := json.Unmarshal(data, &l.m.Status); err != nil {
		l.t.Fatal(err)
	}
	if d.Close && media != nil {
		_ = media.Engine.Close(l.t.Context(), l.room(), d.Redirect)
	}
}

// check notes what is decided. A Meeting that ends by itself, and before its time is over, must have nobody in it. An end is not confirmed
// while a media server has the room where the Meeting is or was, and answers.
func (l *placedLife) check(now v1alpha1.MeetingStatus, seen meeting.Seen) {
	was := l.m.Status
	if was.MediaServer != nil && now.MediaServer != nil && *was.MediaServer != *now.MediaServer {
		l.note("it moves to %s", now.MediaServer.Name)
		l.met["it moves"]++
		if len(now.LeftMediaServers) > 0 {
			l.met["it moves while it remembers where it was"]++
		}
		if meeting.IsLeaving(l.m) {
			l.fail("it moves while it ends")
		}
		if seen.Known && len(seen.Participants) > 0 {
			l.fail("it moves away from those who are in")
		}
	}
	if was.EndReason != now.EndReason {
		l.note("it ends: %s", now.EndReason)
		l.met["it ends: "+string(now.EndReason)]++
		for name, p := range l.in {
			expired := now.EndReason == v1alpha1.EndExpired && !l.clock.Before(now.ExpiryTime.Time)
			if p != nil && now.EndReason != v1alpha1.EndRequested && !expired {
				l.fail("it ends with %s in it", name)
			}
		}
	}
	if was.Phase == v1alpha1.MeetingEnded && now.Phase != was.Phase {
		l.fail("it goes on after its end")
	}
	for _, name := range append(meeting.LeftPlaces(l.m), meeting.PlaceOf(l.m)) {
		p := l.named(name)
		if p != nil && was.Phase != now.Phase && now.Phase == v1alpha1.MeetingEnded && !p.down && p.fault == nil && slices.Contains(p.Left(), l.room()) {
			l.fail("its end is confirmed, and its room is on %s", name)
		}
	}
}
