// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"k8s.io/utils/ptr"

	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// hosts are tenants by their host, or by anything when there is one under "*". A name "denied HOST" has that host denied.
type hosts map[string]*tenant.Tenant

func (h hosts) ForHost(host string) (t *tenant.Tenant, denied bool) {
	if t, ok := h[host]; ok {
		return t, false
	}
	return h["*"], h["denied "+host] != nil
}

// fakeMeetings keeps meetings in memory, and every command in the order in which they came.
type fakeMeetings struct {
	mu       sync.Mutex
	now      func() time.Time
	commands []any
	live     []meeting.View
	secrets  map[string]string
	markErr  error
	totals   meeting.Totals
	// ending makes the next ends take longer than anybody waits.
	ending bool
	// fail is what every call fails with.
	fail error
	// block makes every call wait for the end of its context.
	block bool
	panic bool
}

// begin refuses what the commands themselves refuse.
func (f *fakeMeetings) begin(ctx context.Context, t *tenant.Tenant, command interface{ Validate(meeting.Settings) error }) error {
	if f.panic {
		panic("the fake was told to")
	}
	if f.block {
		<-ctx.Done()
		return ctx.Err()
	}
	if command != nil {
		if err := command.Validate(t.Settings); err != nil {
			return err
		}
		f.commands = append(f.commands, command)
	}
	return f.fail
}

func (f *fakeMeetings) Totals(*tenant.Tenant) meeting.Totals {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panic {
		panic("the fake was told to")
	}
	return f.totals
}

func (f *fakeMeetings) Live(_ context.Context, t *tenant.Tenant, p meeting.Page) (iter.Seq[*meeting.View], meeting.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	placeOf := func(v meeting.View) meeting.Cursor { return meeting.Cursor{At: v.Created, ID: v.UID} }
	slices.SortStableFunc(f.live, func(a, b meeting.View) int { return placeOf(a).Compare(placeOf(b)) })
	live, next := meeting.Cut(slices.Clone(f.live), p, placeOf)
	for i := range live {
		live[i].URL = t.MeetingURL(live[i].Room)
	}
	return each(live), next
}

func (f *fakeMeetings) Create(ctx context.Context, t *tenant.Tenant, command conference.CreateCommand) (meeting.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.begin(ctx, t, command); err != nil {
		return meeting.View{}, err
	}
	length, _ := t.Settings.Length(command.Duration) // It is valid.
	if v := f.find(command.Room); v != nil {
		differs := command.Duration != "" && v.Length != length || command.Password != nil && *command.Password != f.secrets[v.Room] ||
			command.Redirect != nil && *command.Redirect != v.Redirect || command.MaxParticipants > 0 && command.MaxParticipants != v.MaxParticipants
		if differs {
			return meeting.View{}, fault.Conflict("The room has an active meeting with other values; use its values or another room")
		}
		return *v, nil
	}
	if command.Room == "" {
		command.Room = uuid.NewString()
	}
	v := f.open(t, command.Room, length, ptr.Deref(command.Password, ""))
	v.Redirect, v.MaxParticipants = ptr.Deref(command.Redirect, ""), command.MaxParticipants
	return *v, nil
}

func (f *fakeMeetings) Join(ctx context.Context, t *tenant.Tenant, command conference.JoinCommand) (meeting.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.begin(ctx, t, command); err != nil {
		return meeting.View{}, err
	}
	length, _ := t.Settings.Length(command.Duration) // It is valid.
	v := f.find(command.Room)
	switch {
	case v == nil:
		return *f.open(t, command.Room, length, ptr.Deref(command.Password, "")), nil
	case command.Password == nil && !command.NeedsPassword:
	case v.HasPassword && ptr.Deref(command.Password, "") != f.secrets[v.Room]:
		return meeting.View{}, fault.Denied("roomPassword is not this room's; correct it").WithReason(fault.ReasonWrongPassword)
	case !v.HasPassword && ptr.Deref(command.Password, "") != "":
		v.HasPassword, f.secrets[v.Room] = true, *command.Password
	}
	if command.Duration != "" && v.Expires.IsZero() {
		v.Length, v.Expires = length, length.After(v.Created)
	}
	return *v, nil
}

func (f *fakeMeetings) End(ctx context.Context, t *tenant.Tenant, command conference.EndCommand) (conference.EndResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.begin(ctx, t, command); err != nil {
		return conference.EndResult{}, err
	}
	if f.find(command.Room) == nil {
		return conference.EndResult{}, fault.NotFound("No meeting of this room is active; GET /api/v1/meetings lists those that are")
	}
	f.live = slices.DeleteFunc(f.live, func(v meeting.View) bool { return v.Room == command.Room })
	return conference.EndResult{Ended: !f.ending}, nil
}

func (f *fakeMeetings) Find(ctx context.Context, t *tenant.Tenant, room string) (meeting.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.begin(ctx, t, nil); err != nil {
		return meeting.View{}, err
	}
	if v := f.find(room); v != nil {
		found := *v
		found.URL = t.MeetingURL(room)
		return found, nil
	}
	return meeting.View{}, fault.NotFound("No meeting of this room is active; GET /api/v1/meetings lists those that are")
}

func (f *fakeMeetings) PasswordMark(_ context.Context, _ *tenant.Tenant, v meeting.View) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !v.HasPassword {
		return "", nil
	}
	return v.Lineage + " " + f.secrets[v.Room], f.markErr
}

func (f *fakeMeetings) find(room string) *meeting.View {
	i := slices.IndexFunc(f.live, func(v meeting.View) bool { return v.Room == room })
	if i < 0 {
		return nil
	}
	return &f.live[i]
}

func (f *fakeMeetings) open(t *tenant.Tenant, room string, length meeting.Length, password string) *meeting.View {
	v := meeting.View{
		UID: "uid-" + room, Lineage: lineageOf(room), Room: room, URL: t.MeetingURL(room), Length: length,
		Created: f.now(), Expires: length.After(f.now()), HasPassword: password != "",
	}
	if f.secrets == nil {
		f.secrets = map[string]string{}
	}
	f.secrets[room] = password
	f.live = append(f.live, v)
	return &f.live[len(f.live)-1]
}

// reset forgets everything but one live meeting.
func (f *fakeMeetings) reset(room string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commands = nil
	f.live = []meeting.View{{UID: "uid-" + room, Lineage: lineageOf(room), Room: room, Created: f.now()}}
}

// took returns the commands since it was last asked.
func (f *fakeMeetings) took() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.commands = nil }()
	return f.commands
}

// lineageOf is no longer than the UID that it stands for.
func lineageOf(room string) string {
	lineage := "lineage-" + room
	return strings.ToValidUTF8(lineage[:min(len(lineage), 36)], "")
}
