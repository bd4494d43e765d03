// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// oneMeeting is a meeting as the listing shows it, and what is decided about those who are in or want to enter.
type oneMeeting struct{ meeting.View }

type decisions struct {
	MaxParticipants int                    `json:"maxParticipants"`
	Redirect        string                 `json:"redirect"`
	Locked          bool                   `json:"locked"`
	Policy          v1alpha1.MeetingPolicy `json:"policy"`
	Admission       v1alpha1.Admission     `json:"admission"`
	// Waiting is how many people wait to be let in.
	Waiting int32 `json:"waiting"`
}

// MarshalJSON writes one object with the members of the listing and the decisions.
func (m oneMeeting) MarshalJSON() ([]byte, error) {
	decided, err := json.Marshal(decisions{
		MaxParticipants: m.MaxParticipants, Redirect: m.Redirect, Locked: m.Locked, Policy: meeting.WholePolicy(m.PresentersOnly),
		Admission: cmp.Or(m.Admission, v1alpha1.AdmissionOpen), Waiting: m.Counted().WaitingCount,
	})
	if err != nil {
		return nil, err
	}
	e := newEncoder(nil)
	defer e.release()
	e.raw(`{`)
	writeMeeting(e, &m.View)
	e.raw(`,`)
	return slices.Concat(e.buf, bytes.TrimPrefix(decided, []byte(`{`))), nil
}

// details shows one meeting. Where the tenant's Meetings do not show participants, the media server is asked for them; what it does
// not answer stays empty, as in the listing.
func (a *api) details(ctx context.Context, t *tenant.Tenant, v meeting.View) oneMeeting {
	if t.NamesHidden {
		people, _ := a.moderator.Participants(ctx, t, v)
		v.Peers = meeting.Participants(people, v.Created)
	}
	return oneMeeting{v}
}

// timestamp is RFC 3339 in UTC, to the second.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// roomOf reads the room of a request's path, and keeps it for the audit log.
func roomOf(q *httpserver.Request) (string, error) {
	room := q.HTTP.PathValue("room")
	if err := meeting.ValidateAskedRoom(room); err != nil {
		return "", err
	}
	q.Record.Room = room
	return room, nil
}

// done is 200, and 202 for what is written down and not true for all participants yet.
func done(value any, late error) httpserver.Answer {
	if late != nil {
		return httpserver.JSON{Status: http.StatusAccepted, Value: value}
	}
	return ok(value)
}

// inMeeting answers with what is done in the live meeting of a room.
func (a *api) inMeeting(
	q *httpserver.Request, room string, do func(context.Context, meeting.View) (httpserver.Answer, error),
) (httpserver.Answer, error) {
	ctx, cancel := a.within(q)
	defer cancel()
	view, err := a.meetings.Find(ctx, q.Tenant, room)
	if err != nil {
		return nil, err
	}
	return do(ctx, view)
}

// showMeeting is GET meeting/{room}.
func (a *api) showMeeting(q *httpserver.Request) (httpserver.Answer, error) {
	room, err := roomOf(q)
	if err != nil {
		return nil, err
	}
	return a.inMeeting(q, room, func(ctx context.Context, view meeting.View) (httpserver.Answer, error) {
		return ok(a.details(ctx, q.Tenant, view)), nil
	})
}

// changeMeeting is PATCH meeting/{room}.
func (a *api) changeMeeting(q *httpserver.Request) (httpserver.Answer, error) {
	room, err := roomOf(q)
	if err != nil {
		return nil, err
	}
	f, err := readFields(q)
	if err != nil {
		return nil, err
	}
	change, admitAll, err := readMeetingPatch(q, f)
	if err != nil {
		return nil, err
	}
	return a.inMeeting(q, room, func(ctx context.Context, view meeting.View) (httpserver.Answer, error) {
		var now meeting.View
		var late, err error
		if admitAll {
			now, late, err = a.moderator.AdmitAll(ctx, q.Tenant, view, change)
		} else {
			now, late, err = a.moderator.Change(ctx, q.Tenant, view, change)
		}
		if err != nil {
			return nil, err
		}
		return done(a.details(ctx, q.Tenant, now), late), nil
	})
}

// readMeetingPatch reads what changes of a meeting, and whether all who wait are let in. Null takes back what was set, so that the
// tenant's counts again.
func readMeetingPatch(q *httpserver.Request, f *fields) (change func(*v1alpha1.MeetingSpec), admitAll bool, err error) {
	var changes []func(*v1alpha1.MeetingSpec)
	set := func(change func(*v1alpha1.MeetingSpec)) { changes = append(changes, change) }
	f.patched("duration", func(bool) {
		d := readDuration(q.Tenant, f)
		set(func(s *v1alpha1.MeetingSpec) { s.Duration = d })
	})
	f.patched("maxParticipants", func(null bool) {
		most := new(int32(f.count("maxParticipants", q.Tenant.Settings.MaxParticipants)))
		if null {
			most = nil
		}
		set(func(s *v1alpha1.MeetingSpec) { s.MaxParticipants = most })
	})
	f.patched("redirect", func(bool) {
		to, _ := f.text("redirect")
		f.check(q.Tenant.Settings.ValidateRedirect(to))
		set(func(s *v1alpha1.MeetingSpec) { s.Redirect = v1alpha1.URL(to) })
	})
	f.patched("locked", func(null bool) {
		locked := new(f.flag("locked", false))
		if null {
			locked = nil
		}
		set(func(s *v1alpha1.MeetingSpec) { s.Locked = locked })
	})
	f.patched("policy", func(null bool) { set(readPolicyPatch(f, null)) })
	f.patched("admission", func(null bool) {
		var admission v1alpha1.Admission
		if !null {
			admission = word(f, "admission", v1alpha1.AdmissionOpen, v1alpha1.AdmissionWithPresenter, v1alpha1.AdmissionAsk)
		}
		set(func(s *v1alpha1.MeetingSpec) { s.Admission = admission })
	})
	admitAll = f.flag("admitAll", false)
	if f.err == nil && len(changes) == 0 && !admitAll {
		return nil, false, errNothingNamed("duration, maxParticipants, redirect, locked, policy, admission or admitAll")
	}
	return func(s *v1alpha1.MeetingSpec) {
		for _, change := range changes {
			change(s)
		}
	}, admitAll, f.err
}

// readPolicyPatch reads what changes of a policy.
func readPolicyPatch(f *fields, null bool) func(*v1alpha1.MeetingSpec) {
	if null {
		return meeting.ResetPolicy
	}
	named := map[engine.Abilities]v1alpha1.Audience{}
	f.nested("policy", func(inner *fields) {
		for name, ability := range policyMembers {
			inner.patched(name, func(null bool) {
				named[ability] = ""
				if !null {
					named[ability] = word(inner, name, v1alpha1.Everyone, v1alpha1.Presenters)
				}
			})
		}
		if inner.err == nil && len(named) == 0 {
			inner.check(fault.Invalid("policy", "policy must name microphone, camera, screen or chat"))
		}
	})
	return func(s *v1alpha1.MeetingSpec) { meeting.SetPolicy(s, named) }
}

var policyMembers = map[string]engine.Abilities{
	"microphone": engine.Microphone, "camera": engine.Camera, "screen": engine.Screen, "chat": engine.Chat,
}
