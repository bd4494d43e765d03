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
	rival   string
	// lent and heirSince are as in Input.
	lent      bool
	heirSince time.Time
	engine    engineSim
	truth     truth
	// alarm is when the reconciler wants to be called again.
	alarm time.Time
	last  Decision
	told  func(in Input, d Decision)
}

// engineSim is the media server, and what the reconciler saw of it.
type engineSim struct {
	up          bool
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

// newLife begins with a Meeting made by the API, a ConferenceConfig and an engine, on a Monday at nine.
func newLife(t testing.TB, change ...func(*life)) *life {
	l := &life{t: t, now: monday, engine: engineSim{up: true, visible: monday.Add(-time.Hour)}}
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
	if l.tenant == nil || len(l.tenant.Places) == 0 {
		return Seen{}
	}
	e := &l.engine
	if !e.up {
		return Seen{UnavailableSince: e.since, AbsentSince: e.absentSince}
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

func (l *life) opened() bool { return l.meeting.Annotations[v1alpha1.AnnotationRoomOpened] != "" }

// reconcile plans and applies until nothing changes any more.
func (l *life) reconcile() {
	for round := 0; l.meeting != nil; round++ {
		if round == 10 {
			l.t.Fatalf("%s: ten plans in a row, and each changes something", clock(l.now))
		}
		in := Input{Meeting: l.meeting, Tenant: l.tenant, Rival: l.rival, Lent: l.lent, HeirSince: l.heirSince, Seen: l.seen(), Now: l.now}
		d := checkedPlan(l.t, in, &l.truth)
		l.told(in, d)
		l.last = d
		if !l.apply(d) {
			return
		}
	}
	l.alarm = time.Time{}
}

// apply does what was decided, in the reconciler's order, and reports whether there is anything new to decide on.
func (l *life) apply(d Decision) (changed bool) {
	m := l.meeting
	had := slices.Contains(m.Finalizers, v1alpha1.Finalizer)
	if d.Finalizer && m.DeletionTimestamp == nil {
		m.Finalizers = []string{v1alpha1.Finalizer}
	}
	stored := asStored(l.t, d.Status)
	changed = !equality.Semantic.DeepEqual(stored, m.Status)
	m.Status = stored
	if d.Refresh != nil && l.engine.up && l.engine.room {
		l.engine.state = *d.Refresh
	}
	if d.Close && l.engine.up && l.tenant != nil && len(l.tenant.Places) > 0 {
		l.engine.room, l.engine.people, l.engine.redirect = false, nil, d.Redirect
		l.engine.closes++
		changed = true
	}
	if !d.Finalizer {
		m.Finalizers = nil
	}
	if d.Delete || (m.DeletionTimestamp != nil && len(m.Finalizers) == 0) {
		l.meeting = nil
		return true
	}
	l.alarm = d.WakeAt
	return changed || had != slices.Contains(m.Finalizers, v1alpha1.Finalizer)
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
	l.engine.room = true
	l.engine.state.ExpiresAt = timeOf(l.meeting.Status.ExpiryTime)
	l.engine.people = append(l.engine.people, engine.Participant{
		Identity: engine.Identity("id-" + name), Name: name, JoinedAt: l.now, Audio: true, Traits: engine.Traits{Chat: true},
	})
}

func (l *life) leave(name string) {
	l.engine.people = slices.DeleteFunc(l.engine.people, func(p engine.Participant) bool { return p.Name == name })
}

func (l *life) engineGoes() { l.engine.up, l.engine.since = false, l.now }

func (l *life) engineReturns() {
	l.engine.up = true
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

// remove is kubectl delete: the object stays while it has a finalizer.
func (l *life) remove() {
	if len(l.meeting.Finalizers) == 0 {
		l.meeting = nil
		return
	}
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
