// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/moderation"
	"convene.dev/convene/internal/tenant"
)

// meetingDetails is a meeting as the listing shows it, with the decisions about its participants.
type meetingDetails struct {
	meetingBody
	MaxParticipants int                    `json:"maxParticipants"`
	Redirect        string                 `json:"redirect"`
	Locked          bool                   `json:"locked"`
	Policy          v1alpha1.MeetingPolicy `json:"policy"`
	Admission       v1alpha1.Admission     `json:"admission"`
	// Waiting is how many people wait to be let in.
	Waiting int32 `json:"waiting"`
}

// details shows one meeting. Where the tenant's Meetings do not show participants, the media server is asked for them; what it does
// not answer stays empty, as in the listing.
func (a *api) details(ctx context.Context, t *tenant.Tenant, v meeting.View) meetingDetails {
	if t.NamesHidden {
		people, _ := a.moderator.Participants(ctx, t, v)
		v.Peers = meeting.Participants(people, v.Created)
	}
	return meetingDetails{
		meetingBody: meetingBodyOf(&v), MaxParticipants: v.MaxParticipants, Redirect: v.Redirect, Locked: v.Locked,
		Policy: meeting.WholePolicy(v.PresentersOnly), Admission: cmp.Or(v.Admission, v1alpha1.AdmissionOpen), Waiting: v.Counted().WaitingCount,
	}
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
	var patch meetingPatch
	if err := requests.Decode(q, &patch); err != nil {
		return nil, err
	}
	if err := patch.validate(q.Tenant.Settings); err != nil {
		return nil, err
	}
	return a.inMeeting(q, room, func(ctx context.Context, view meeting.View) (httpserver.Answer, error) {
		got, err := a.moderator.Do(ctx, q.Tenant, view, moderation.Order{Commands: body.Named(patch), Values: patch.values()})
		if err != nil {
			return nil, err
		}
		return done(a.details(ctx, q.Tenant, got.View), got.Late), nil
	})
}

// meetingPatch is the body of PATCH meeting/{room}. Its members are the names of commands. Null takes back what was set, so that the tenant's
// counts again.
type meetingPatch struct {
	Duration        body.Optional[v1alpha1.Duration]  `json:"duration"`
	MaxParticipants body.Optional[body.Count]         `json:"maxParticipants"`
	Redirect        body.Optional[string]             `json:"redirect"`
	Locked          body.Optional[bool]               `json:"locked"`
	Policy          body.Optional[policyPatch]        `json:"policy"`
	Admission       body.Optional[v1alpha1.Admission] `json:"admission"`
	// AdmitAll lets in all who wait, and MuteAll turns off the microphones of all who are no presenters.
	AdmitAll bool `json:"admitAll"`
	MuteAll  bool `json:"muteAll"`
}

func (p *meetingPatch) validate(rules meeting.Settings) error {
	if *p == (meetingPatch{}) {
		return errNothingNamed("duration, maxParticipants, redirect, locked, policy, admission, admitAll or muteAll")
	}
	return validateCount("maxParticipants", p.MaxParticipants, rules.MaxParticipants)
}

// values returns the arguments of the commands that a patch names.
func (p *meetingPatch) values() moderation.Values {
	values := moderation.Values{
		Spec: v1alpha1.MeetingSpec{
			Duration: p.Duration.Value, MaxParticipants: (*int32)(p.MaxParticipants.Pointer()), Redirect: v1alpha1.URL(p.Redirect.Value),
			Locked: p.Locked.Pointer(), Admission: p.Admission.Value,
		},
		Policy: p.Policy.Value.named(),
	}
	if p.Policy.Null {
		for _, a := range engine.AllAbilities() {
			values.Policy[a.Abilities] = ""
		}
	}
	return values
}

// policyPatch is the member policy of a meetingPatch.
type policyPatch struct {
	Microphone body.Optional[v1alpha1.Audience] `json:"microphone"`
	Camera     body.Optional[v1alpha1.Audience] `json:"camera"`
	Screen     body.Optional[v1alpha1.Audience] `json:"screen"`
	Chat       body.Optional[v1alpha1.Audience] `json:"chat"`
}

// UnmarshalJSONFrom reads an object that names something.
func (p *policyPatch) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	type plain policyPatch
	if err := body.Object(value, (*plain)(p), d.Options(), "must be an object"); err != nil {
		return err
	}
	if *p == (policyPatch{}) {
		return fault.Invalid("policy", "policy must name microphone, camera, screen or chat")
	}
	return nil
}

// named has an empty audience for what is taken back.
func (p *policyPatch) named() map[engine.Abilities]v1alpha1.Audience {
	named := map[engine.Abilities]v1alpha1.Audience{}
	for ability, audience := range map[engine.Abilities]body.Optional[v1alpha1.Audience]{
		engine.Microphone: p.Microphone, engine.Camera: p.Camera, engine.Screen: p.Screen, engine.Chat: p.Chat,
	} {
		if audience.Set {
			named[ability] = audience.Value
		}
	}
	return named
}
