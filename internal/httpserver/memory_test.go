// SPDX-License-Identifier: Apache-2.0

package httpserver_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// memory keeps the meetings of tenants, as the manager does with the cluster's help, for the API and the pages.
type memory struct {
	mu        sync.Mutex
	now       func() time.Time
	made      int
	live      map[string]*meeting.View // by tenant and room
	byUID     map[string]*meeting.View // by tenant and UID
	passwords map[string]string
}

func newMemory(now func() time.Time) *memory {
	return &memory{now: now, live: map[string]*meeting.View{}, byUID: map[string]*meeting.View{}, passwords: map[string]string{}}
}

func of(t *tenant.Tenant, name string) string { return string(t.UID) + " " + name }

func (m *memory) Totals(t *tenant.Tenant) meeting.Totals {
	live, _ := m.Live(context.Background(), t, meeting.Page{})
	return meeting.Totals{Rooms: len(slices.Collect(live))}
}

func (m *memory) Live(_ context.Context, t *tenant.Tenant, p meeting.Page) (iter.Seq[*meeting.View], meeting.Cursor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*meeting.View
	for key, v := range m.live {
		if strings.HasPrefix(key, of(t, "")) {
			all = append(all, new(*v))
		}
	}
	placeOf := func(v *meeting.View) meeting.Cursor { return meeting.Cursor{At: v.Created, ID: v.UID} }
	slices.SortFunc(all, func(a, b *meeting.View) int { return placeOf(a).Compare(placeOf(b)) })
	page, next := meeting.Cut(all, p, placeOf)
	return slices.Values(page), next
}

func (m *memory) Create(_ context.Context, t *tenant.Tenant, c conference.CreateCommand) (meeting.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	length, err := t.Settings.Length(c.Duration)
	if err != nil {
		return meeting.View{}, err
	}
	if v := m.live[of(t, c.Room)]; v != nil && c.Room != "" {
		if c.Duration != "" && v.Length != length {
			return meeting.View{}, fault.Conflict("A meeting of this room is live with another duration")
		}
		return *v, nil
	}
	return m.open(t, c.Room, length, ptr.Deref(c.Password, "")), nil
}

func (m *memory) Join(_ context.Context, t *tenant.Tenant, c conference.JoinCommand) (meeting.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.live[of(t, c.Room)]; v != nil {
		if (c.Password != nil || c.NeedsPassword) && v.HasPassword && ptr.Deref(c.Password, "") != m.passwords[v.UID] {
			return meeting.View{}, fault.Denied("roomPassword is not the password of this room").WithReason(fault.ReasonWrongPassword)
		}
		return *v, nil
	}
	length, err := t.Settings.Length(c.Duration)
	if err != nil {
		return meeting.View{}, err
	}
	return m.open(t, c.Room, length, ptr.Deref(c.Password, "")), nil
}

// open makes a meeting, and ends all others when there are many, so that a long test does not grow.
func (m *memory) open(t *tenant.Tenant, room string, length meeting.Length, password string) meeting.View {
	if len(m.live) > 50 {
		clear(m.live)
	}
	m.made++
	if room == "" {
		room = fmt.Sprint("room-", m.made)
	}
	uid := fmt.Sprint("uid", m.made)
	v := &meeting.View{
		UID: uid, Lineage: uid, Room: room, URL: t.MeetingURL(room), Length: length, Created: m.now(), Expires: length.After(m.now()),
		HasPassword: password != "", MaxParticipants: 5, EngineRoom: meeting.EngineRoom(string(t.UID), uid),
	}
	m.live[of(t, room)], m.byUID[of(t, uid)], m.passwords[uid] = v, v, password
	return *v
}

func (m *memory) End(_ context.Context, t *tenant.Tenant, c conference.EndCommand) (conference.EndResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.live[of(t, c.Room)]
	if v == nil || c.UID != "" && c.UID != v.UID {
		return conference.EndResult{}, fault.NotFound("There is no live meeting of this room")
	}
	delete(m.live, of(t, c.Room))
	v.Ended = true
	return conference.EndResult{Ended: true}, nil
}

func (m *memory) Enter(_ context.Context, t *tenant.Tenant, room, lineage string) (meeting.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.live[of(t, room)]
	switch {
	case v == nil && lineage == "":
		return meeting.View{}, fault.NotFound("There is no meeting of this name")
	case v == nil || lineage != "" && lineage != v.Lineage:
		return meeting.View{Ended: true}, fault.Gone("This meeting has ended")
	}
	return *v, nil
}

// Preview shows what Enter does: these meetings are never started again.
func (m *memory) Preview(ctx context.Context, t *tenant.Tenant, room, lineage string, _ bool) (meeting.View, error) {
	return m.Enter(ctx, t, room, lineage)
}

// Open is never asked for: these tenants let nobody open rooms.
func (m *memory) Open(context.Context, *tenant.Tenant, meeting.Opening) (meeting.View, error) {
	return meeting.View{}, fault.NotFound("There is no such meeting")
}

func (m *memory) MarkOpened(_ context.Context, t *tenant.Tenant, v meeting.View, _ engine.Identity, _ string) (now meeting.View, err error) {
	err = m.change(t, v.UID, func(v *meeting.View) {
		v.Opened = true
		now = *v
	})
	return now, err
}

func (m *memory) Change(_ context.Context, t *tenant.Tenant, uid string, change func(*v1alpha1.MeetingSpec) error) (now meeting.View, err error) {
	failed := m.change(t, uid, func(v *meeting.View) {
		spec := v1alpha1.MeetingSpec{Participants: v.Decisions, Locked: &v.Locked, Policy: meeting.PolicyOf(v.PresentersOnly)}
		if err = change(&spec); err != nil {
			return
		}
		v.Control = meeting.ControlOf(t.Settings, &spec)
		now = *v
	})
	return now, cmp.Or(failed, err)
}

// Find is not for these tests.
func (m *memory) Find(context.Context, *tenant.Tenant, string) (meeting.View, error) {
	return meeting.View{}, fault.NotFound("There is no such meeting")
}

func (m *memory) change(t *tenant.Tenant, uid string, how func(*meeting.View)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.byUID[of(t, uid)]
	switch {
	case v == nil:
		return errUnknown
	case v.Ended:
		return fault.Gone("This meeting has ended")
	}
	how(v)
	return nil
}

// PasswordMark tells the passwords of these tests apart.
func (m *memory) PasswordMark(_ context.Context, _ *tenant.Tenant, v meeting.View) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.passwords[v.UID], nil
}

func (m *memory) CheckPassword(_ context.Context, _ *tenant.Tenant, v meeting.View, _ netip.Prefix, presented string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.passwords[v.UID] == presented, nil
}

func (m *memory) Known(_ context.Context, t *tenant.Tenant, uid, room string) (meeting.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch v := m.byUID[of(t, uid)]; {
	case v != nil:
		return *v, nil
	case room == "":
		return meeting.View{}, errUnknown
	}
	return meeting.View{UID: uid, Room: room, Ended: true}, nil
}

var errUnknown = fault.Unavailable("It is not known here yet")

// silentEngine has every room and nobody in any.
type silentEngine struct{ engine.Engine }

func (silentEngine) Participants(context.Context, engine.RoomName) ([]engine.Participant, error) {
	return nil, nil
}

func (silentEngine) Ensure(context.Context, engine.RoomName, engine.RoomOptions, engine.RoomState) error {
	return nil
}

func (silentEngine) Act(context.Context, engine.RoomName, engine.Action) error { return nil }
