// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// life runs one Meeting through a small world: what people and operators do, an engine, the API server that stores the
// object, and a reconciler that does what Plan decides. Time passes only when it is told to.
type life struct {
	t       testing.TB
	now     time.Time
	meeting *v1alpha1.Meeting // nil once the object is gone
	tenant  *Tenant           // nil while there is no ConferenceConfig
	// configGone says that the ConferenceConfig was deleted.
	configGone bool
	rival      string
	// lent and heirSince are as in Input.
	lent      bool
	heirSince time.Time
	engine    engineSim
	// second is another media server, where the tenant has twoPlaces.
	second engineSim
	truth  truth
	// alarm is when the reconciler wants to be called again.
	alarm time.Time
	last  Decision
	// forgot says that a media server which the Meeting left has been away for so long that it was forgotten.
	forgot bool
	told   func(in Input, d Decision)
}

// engineSim is the media server, and what the reconciler saw of it.
type engineSim struct {
	up          bool
	refuses     bool      // it answers that the key is wrong
	since       time.Time // away since
	visible     time.Time // the first look
	blind       []Span
	room        bool
	state       engine.RoomState
	people      []engine.Participant
	absentSince time.Time
	closes      int
	redirect    string
}

var monday = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// onePlace is the media server of a tenant that has one.
var onePlace = []Place{{Name: types.NamespacedName{Namespace: "media", Name: "livekit"}}}

// twoPlaces are the media servers of a tenant that has two.
var twoPlaces = []Place{onePlace[0], {Name: types.NamespacedName{Namespace: "media", Name: "second"}, Load: 1}}

// newLife begins with a Meeting made by the API, a ConferenceConfig and an engine, on a Monday at nine.
func newLife(t testing.TB, change ...func(*life)) *life {
	l := &life{t: t, now: monday, engine: engineSim{up: true, visible: monday.Add(-time.Hour)}}
	l.second = l.engine
	l.meeting = &v1alpha1.Meeting{
		ObjectMeta: metav1.ObjectMeta{
			Name: "standup", UID: "m-1", Generation: 1, CreationTimestamp: metav1.NewTime(monday),
			Labels:      map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI},
			Annotations: map[string]string{},
		},
		Spec: v1alpha1.MeetingSpec{Room: "Standup", ConfigRef: v1alpha1.ConfigReference{Name: "default"}},
	}
	l.tenant = &Tenant{Settings: DefaultSettings(), URL: "https://meet.example.com/join/Standup", Places: onePlace}
	l.told = func(Input, Decision) {}
	for _, f := range change {
		f(l)
	}
	return l
}

// seen is what the reconciler sees of the engine: it looks for itself when the Meeting is being ended.
func (l *life) seen() Seen {
	if !l.isKnown(PlaceOf(l.meeting)) {
		return Seen{}
	}
	e := l.at()
	switch {
	case !e.up && e.refuses:
		return Seen{UnavailableSince: e.since, AbsentSince: e.absentSince}
	case !e.up:
		return Seen{UnavailableSince: e.since, SilentSince: e.since, AbsentSince: e.absentSince}
	}
	if e.room {
		e.absentSince = time.Time{}
	} else if IsLeaving(l.meeting) && l.opened() && (e.absentSince.IsZero() || e.absentSince.After(l.now)) {
		e.absentSince = l.now // The observer's own times are monotonic: no clock that is set back shows in them.
	}
	return Seen{
		Known: true, VisibleSince: e.visible, Outages: slices.Clone(e.blind), RoomExists: e.room, Participants: slices.Clone(e.people),
		State: e.state, AbsentSince: e.absentSince,
	}
}

// isKnown reports whether the tenant has a media server. One that the Meeting asks for is the only one.
func (l *life) isKnown(name types.NamespacedName) bool {
	return l.tenant != nil && slices.ContainsFunc(l.tenant.Places, func(p Place) bool { return p.Name == name || name.Name == "" })
}

// at is the media server of the Meeting.
func (l *life) at() *engineSim { return l.engineOf(PlaceOf(l.meeting).Name) }

func (l *life) engineOf(name string) *engineSim {
	if name == "second" {
		return &l.second
	}
	return &l.engine
}

// left is what the media servers show that the Meeting left.
func (l *life) left() map[types.NamespacedName]Seen {
	left := map[types.NamespacedName]Seen{}
	for _, name := range LeftPlaces(l.meeting) {
		switch e := l.engineOf(name.Name); {
		case !l.isKnown(name):
		case e.up:
			left[name] = Seen{Known: true, RoomExists: e.room, Participants: slices.Clone(e.people)}
		default:
			left[name] = Seen{UnavailableSince: e.since, SilentSince: e.since}
		}
	}
	return left
}

// observe does what the observer does: it closes the room where the Meeting was before. Participants come along, unless the Meeting comes
// back to them.
func (l *life) observe() {
	at := l.at()
	for _, e := range []*engineSim{&l.engine, &l.second} {
		switch {
		case e == at || !e.up || !e.room || e == &l.second && !l.isKnown(twoPlaces[1].Name) || !l.isKnown(onePlace[0].Name):
		case IsLeaving(l.meeting) || len(e.people) == 0:
			e.room, e.people = false, nil
		case at.up && len(at.people) > 0:
			at.people = append(at.people, e.people...)
			e.room, e.people = false, nil
		}
	}
}

func (l *life) opened() bool { return l.meeting.Annotations[v1alpha1.AnnotationRoomOpened] != "" }

// reconcile plans and applies until nothing changes any more.
func (l *life) reconcile() {
	for round := 0; l.meeting != nil; round++ {
		if round == 10 {
			l.t.Fatalf("%s: ten plans in a row, and each changes something", clock(l.now))
		}
		l.observe()
		in := Input{
			Meeting: l.meeting, Tenant: l.tenantNow(), ConfigGone: l.configGone, Rival: l.rival, Lent: l.lent, HeirSince: l.heirSince, Seen: l.seen(), Left: l.left(), Now: l.now,
		}
		d := checkedPlan(l.t, in, &l.truth)
		l.checkNobodyIsIn(in, d)
		l.told(in, d)
		l.last = d
		if !l.apply(d) {
			return
		}
	}
	l.alarm = time.Time{}
}

// checkNobodyIsIn fails the test where a Meeting ends by itself and participants are in.
func (l *life) checkNobodyIsIn(in Input, d Decision) {
	for _, left := range in.Meeting.Status.LeftMediaServers {
		l.forgot = l.forgot || !l.now.Before(left.LeftTime.Add(leftFor))
	}
	n := len(l.engine.people) + len(l.second.people)
	if r := d.Status.EndReason; r != in.Meeting.Status.EndReason && (r == v1alpha1.EndEmpty || r == v1alpha1.EndUnjoined) && n > 0 && !l.forgot {
		l.t.Errorf("%s: it ends (%s), and %d are in", clock(l.now), r, n)
	}
}

// tenantNow is the tenant with the media servers as they are reached now.
func (l *life) tenantNow() *Tenant {
	if l.tenant == nil || len(l.tenant.Places) < 2 {
		return l.tenant
	}
	t := *l.tenant
	t.Places = slices.Clone(t.Places)
	for i := range t.Places {
		t.Places[i].Unreachable = !l.engineOf(t.Places[i].Name.Name).up
	}
	return &t
}

// apply does what was decided, in the reconciler's order, and reports whether there is anything new to decide on.
func (l *life) apply(d Decision) (changed bool) {
	m := l.meeting
	stored := asStored(l.t, d.Status)
	changed = !equality.Semantic.DeepEqual(stored, m.Status)
	e := l.at()
	m.Status = stored
	if d.Refresh != nil && e.up && e.room {
		e.state = *d.Refresh
	}
	if d.Close && e.up && l.isKnown(PlaceOf(m)) {
		e.room, e.people, e.redirect = false, nil, d.Redirect
		e.closes++
		changed = true
	}
	if d.Delete || m.DeletionTimestamp != nil && IsOver(m) {
		l.meeting = nil
		return true
	}
	l.alarm = d.WakeAt
	return changed
}

// pass lets time go by. Nobody is woken but by the alarms that the plans ask for.
func (l *life) pass(d time.Duration) {
	until := l.now.Add(d)
	for wakes := 0; l.meeting != nil && !l.alarm.IsZero() && !l.alarm.After(until); wakes++ {
		if wakes == 10_000 {
			l.t.Fatalf("%s: woken ten thousand times in %s", clock(l.now), d)
		}
		if l.alarm.After(l.now) {
			l.now = l.alarm
		}
		l.reconcile()
	}
	l.now = until
}

// What can happen.

func (l *life) enter(name string) {
	l.meeting.Annotations[v1alpha1.AnnotationRoomOpened] = l.now.Format(time.RFC3339)
	e := l.at()
	e.room = true
	e.state.ExpiresAt = timeOf(l.meeting.Status.ExpiryTime)
	e.people = append(e.people, engine.Participant{
		Identity: engine.Identity("id-" + name), Name: name, JoinedAt: l.now, Audio: true, Traits: engine.Traits{Chat: true},
	})
}

func (l *life) leave(name string) {
	for _, e := range []*engineSim{&l.engine, &l.second} {
		e.people = slices.DeleteFunc(e.people, func(p engine.Participant) bool { return p.Name == name })
	}
}

func (l *life) engineGoes() { l.engine.up, l.engine.since = false, l.now }

func (l *life) engineRefuses() { l.engineGoes(); l.engine.refuses = true }

func (l *life) engineReturns() {
	l.engine.up, l.engine.refuses = true, false
	l.engine.blind = append(l.engine.blind, Span{l.engine.since, l.now})
}

// engineRestarts loses its rooms, too fast for a look to fail.
func (l *life) engineRestarts() {
	l.engine.room, l.engine.people, l.engine.state = false, nil, engine.RoomState{}
}

func (l *life) edit(change func(*v1alpha1.MeetingSpec)) {
	change(&l.meeting.Spec)
	l.meeting.Generation++
}

// remove is kubectl delete of a Meeting that a finalizer of somebody else holds until the Meeting has ended.
func (l *life) remove() {
	now := metav1.NewTime(l.now.Truncate(time.Second))
	l.meeting.DeletionTimestamp = &now
}

// asStored is a status as the API server gives it back: in JSON, times in whole seconds.
func asStored(t testing.TB, status v1alpha1.MeetingStatus) (stored v1alpha1.MeetingStatus) {
	data, err := json.Marshal(status)
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// clock tells the day too, once it is another.
func clock(t time.Time) string {
	text := t.UTC().Format("15:04:05.999")
	if days := int(t.Sub(monday.Truncate(24*time.Hour)) / (24 * time.Hour)); days != 0 {
		text = fmt.Sprintf("day %d %s", days+1, text)
	}
	return text
}
