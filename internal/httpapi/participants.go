// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/moderation"
)

// participantList is the answer of GET meeting/{room}/participants.
type participantList struct {
	Participants []participantBody `json:"participants"`
	// Next is the parameter after of the next page; absent on the last.
	Next string `json:"next,omitempty"`
}

type participantBody struct {
	Identity engine.Identity `json:"identity"`
	Name     string          `json:"name"`
	// Kind is empty for a participant with a page.
	Kind     v1alpha1.ParticipantKind `json:"kind,omitempty"`
	Username string                   `json:"username,omitempty"`
	Role     v1alpha1.ParticipantRole `json:"role"`
	// Promoted says that a presenter in the room gave the role. All other presenters outrank those.
	Promoted bool      `json:"promoted"`
	Media    mediaBody `json:"media"`
	Hand     bool      `json:"hand"`
	Hidden   bool      `json:"hidden"`
	// Muted reports whether the microphone is locked. Sources lists what the participant may publish now.
	Muted   bool                         `json:"muted"`
	Sources []v1alpha1.ParticipantSource `json:"sources"`
	// GrantedSources are what they may publish even where the policy leaves it to presenters.
	GrantedSources []v1alpha1.ParticipantSource `json:"grantedSources"`
	// Waiting says that the participant is not in yet. JoinTime is then when they began to wait, and Message what they wrote.
	Waiting  bool   `json:"waiting"`
	Message  string `json:"message,omitempty"`
	OS       string `json:"os"`
	Browser  string `json:"browser"`
	JoinTime string `json:"joinTime"`
}

type mediaBody struct {
	Audio  bool `json:"audio"`
	Video  bool `json:"video"`
	Screen bool `json:"screen"`
}

// listParticipants is GET meeting/{room}/participants.
func (a *api) listParticipants(q *httpserver.Request) (httpserver.Answer, error) {
	room, err := roomOf(q)
	if err != nil {
		return nil, err
	}
	page, err := readPage(q.HTTP.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	page.Limit = cmp.Or(page.Limit, defaultPage)
	return a.inMeeting(q, room, func(ctx context.Context, view meeting.View) (httpserver.Answer, error) {
		people, err := a.moderator.Participants(ctx, q.Tenant, view)
		if err != nil {
			return nil, err
		}
		waiting, err := a.moderator.Waiting(ctx, q.Tenant, view)
		if err != nil {
			return nil, err
		}
		return ok(pageOf(view, slices.Concat(people, waiting), page)), nil
	})
}

func placeOf(p engine.Participant) meeting.Cursor {
	return meeting.Cursor{At: joinTime(p), ID: string(p.Identity)}
}

// joinTime is when a participant came in, or began to wait.
func joinTime(p engine.Participant) time.Time {
	if p.Waits() {
		return p.Since
	}
	return p.JoinedAt
}

// pageOf is a page of the participants of a meeting.
func pageOf(v meeting.View, people []engine.Participant, p meeting.Page) participantList {
	people = slices.SortedFunc(slices.Values(people), func(a, b engine.Participant) int { return placeOf(a).Compare(placeOf(b)) })
	some, next := meeting.Cut(people, p, placeOf)
	list := participantList{Participants: make([]participantBody, len(some)), Next: next.String()}
	for i, p := range some {
		list.Participants[i] = participantBodyOf(v, p)
	}
	return list
}

func participantBodyOf(v meeting.View, p engine.Participant) participantBody {
	rights := v.RightsOf(p)
	role := v1alpha1.RoleParticipant
	if rights.Presenter {
		role = v1alpha1.RolePresenter
	}
	if p.Hidden || p.Waits() {
		rights.Forbidden = engine.Media
	}
	decided := v.DecisionOn(p.Username, p.Identity)
	return participantBody{
		Identity: p.Identity, Name: p.Name, Kind: p.Kind, Username: p.Username, Role: role, Promoted: rights.Promoted, Media: mediaBody{p.Audio, p.Video, p.Screen},
		Hand: p.Hand, Hidden: p.Hidden && !p.Waits(), Waiting: p.Waits(), Message: p.Message, Muted: decided.Muted,
		GrantedSources: engine.OfSources(decided.GrantedSources).Sources(),
		Sources:        (engine.Media &^ rights.Forbidden).Sources(), OS: p.OS, Browser: p.Browser, JoinTime: timestamp(joinTime(p)),
	}
}

// doneBody is the answer of what was done to or for a participant.
type doneBody struct {
	Success  bool            `json:"success"`
	Room     string          `json:"room"`
	Identity engine.Identity `json:"identity,omitempty"`
}

// participantPath reads the room and the participant of a request's path, and keeps both for the audit log.
func participantPath(q *httpserver.Request) (room string, who engine.Identity, err error) {
	if room, err = roomOf(q); err != nil {
		return "", "", err
	}
	who = engine.Identity(q.HTTP.PathValue("identity"))
	if err := meeting.ValidateIdentity("identity", who); err != nil {
		return "", "", err
	}
	q.Record.To = who
	return room, who, nil
}

// participantPatch is the body of PATCH meeting/{room}/participants/{identity}. Its members are the names of commands.
type participantPatch struct {
	Role           body.Optional[v1alpha1.ParticipantRole] `json:"role"`
	Muted          body.Optional[bool]                     `json:"muted"`
	Sources        body.Optional[sourceList]               `json:"sources"`
	GrantedSources body.Optional[sourceList]               `json:"grantedSources"`
	Admitted       body.Optional[bool]                     `json:"admitted"`
	Hand           body.Optional[bool]                     `json:"hand"`
	Media          body.Optional[mediaPatch]               `json:"media"`
	// AllowToSpeak undoes a lock of the microphone, and grants it where the policy leaves it to presenters.
	AllowToSpeak bool `json:"allowToSpeak"`
	AskToUnmute  bool `json:"askToUnmute"`
}

// mediaPatch turns off what a participant publishes now. The participant may switch it on again.
type mediaPatch struct {
	Audio  body.Optional[bool] `json:"audio"`
	Video  body.Optional[bool] `json:"video"`
	Screen body.Optional[bool] `json:"screen"`
}

// UnmarshalJSONFrom reads an object in which nothing is true: participants switch on themselves.
func (p *mediaPatch) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	type plain mediaPatch
	if err := body.Object(value, (*plain)(p), d.Options(), "must be an object"); err != nil {
		return err
	}
	if *p == (mediaPatch{}) || p.Audio.Value || p.Video.Value || p.Screen.Value {
		return fault.Invalid("media", "media turns off what is on: name audio, video or screen, and send false; askToUnmute asks a participant to switch on")
	}
	return nil
}

// commands names the commands of a patch.
func (p *participantPatch) commands() []string {
	names := slices.DeleteFunc(body.Named(*p), func(name string) bool { return name == "media" })
	off := p.Media.Value
	for _, one := range []struct {
		body.Optional[bool]
		name string
	}{{off.Audio, "mute"}, {off.Video, "stopCamera"}, {off.Screen, "stopScreen"}} {
		if one.Set && !one.Null {
			names = append(names, one.name)
		}
	}
	return names
}

// values returns the arguments of the commands that a patch names.
func (p *participantPatch) values() moderation.Values {
	return moderation.Values{
		Decision: v1alpha1.ParticipantDecision{
			Role: p.Role.Value, Muted: p.Muted.Value, Sources: p.Sources.Value, GrantedSources: p.GrantedSources.Value, Admitted: p.Admitted.Value,
		},
		Raised: p.Hand.Value,
	}
}

type sourceList []v1alpha1.ParticipantSource

// readSources reads a list of names, in any case.
func readSources(value jsontext.Value) (sourceList, error) {
	var names []string
	if err := json.Unmarshal(value, &names); err != nil {
		return nil, body.Problem("must be a list of strings")
	}
	listed := sourceList{}
	for _, name := range names {
		at := slices.IndexFunc(allSources, func(s v1alpha1.ParticipantSource) bool { return strings.EqualFold(name, string(s)) })
		if at < 0 {
			return nil, body.Problem("must be a list of Microphone, Camera and Screen")
		}
		if !slices.Contains(listed, allSources[at]) {
			listed = append(listed, allSources[at])
		}
	}
	return listed, nil
}

var allSources = engine.Media.Sources()

// changeParticipant is PATCH meeting/{room}/participants/{identity}.
func (a *api) changeParticipant(q *httpserver.Request) (httpserver.Answer, error) {
	room, who, err := participantPath(q)
	if err != nil {
		return nil, err
	}
	var patch participantPatch
	if err := requests.Decode(q, &patch); err != nil {
		return nil, err
	}
	commands := patch.commands()
	if len(commands) == 0 {
		return nil, errNothingNamed("role, muted, sources, grantedSources, admitted, hand, media, allowToSpeak or askToUnmute")
	}
	order := moderation.Order{Commands: commands, To: who, Values: patch.values()}
	order.Notice.At = a.clusterTime()
	return a.toOne(q, room, order)
}

// toOne answers with what is done to or for a participant, or all.
func (a *api) toOne(q *httpserver.Request, room string, o moderation.Order) (httpserver.Answer, error) {
	return a.inMeeting(q, room, func(ctx context.Context, view meeting.View) (httpserver.Answer, error) {
		got, err := a.moderator.Do(ctx, q.Tenant, view, o)
		return done(doneBody{Success: true, Room: room, Identity: o.To}, got.Late), err
	})
}

// removeRequest is the body of DELETE meeting/{room}/participants/{identity}.
type removeRequest struct {
	// Ban keeps the user out, whatever they come with.
	Ban bool `json:"ban"`
}

// removeParticipant is DELETE meeting/{room}/participants/{identity}.
func (a *api) removeParticipant(q *httpserver.Request) (httpserver.Answer, error) {
	room, who, err := participantPath(q)
	if err != nil {
		return nil, err
	}
	var asked removeRequest
	if err := requests.Decode(q, &asked); err != nil {
		return nil, err
	}
	command := "remove"
	if asked.Ban {
		command = "ban"
	}
	return a.toOne(q, room, moderation.Order{Commands: []string{command}, To: who})
}

// announceRequest is the body of POST meeting/{room}/announcements.
type announceRequest struct {
	Text string `json:"text"`
	ID   string `json:"id"`
	// To is nil for everybody. An empty one is nobody, which must not become everybody.
	To *string `json:"to"`
}

// announce is POST meeting/{room}/announcements.
func (a *api) announce(q *httpserver.Request) (httpserver.Answer, error) {
	room, err := roomOf(q)
	if err != nil {
		return nil, err
	}
	var asked announceRequest
	if err := requests.Decode(q, &asked); err != nil {
		return nil, err
	}
	if asked.To != nil {
		if err := meeting.ValidateIdentity("to", engine.Identity(*asked.To)); err != nil {
			return nil, err
		}
		q.Record.To = engine.Identity(*asked.To)
	}
	n := moderation.Notice{At: a.clusterTime(), Text: asked.Text, ID: asked.ID}
	if err := n.Validate(); err != nil {
		return nil, err
	}
	return a.toOne(q, room, moderation.Order{Commands: []string{"announce"}, To: q.Record.To, Values: moderation.Values{Notice: n}})
}
