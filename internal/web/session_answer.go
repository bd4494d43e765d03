// SPDX-License-Identifier: Apache-2.0

package web

import (
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
)

// grantLifetime bounds the first connect; the engine renews the tokens of those who are in.
const grantLifetime = 2 * time.Minute

// sessionAnswer is what a page needs to be in a meeting.
type sessionAnswer struct {
	Session string        `json:"session"`
	Engine  engineAnswer  `json:"engine"`
	Meeting meetingAnswer `json:"meeting"`
	You     youAnswer     `json:"you"`
	Home    v1alpha1.URL  `json:"home"`
	Now     time.Time     `json:"now"`
}

// waitingAnswer is what a page needs whose participant has to wait. Its token opens a waiting room, and says nothing of the meeting.
type waitingAnswer struct {
	sessionAnswer
	Waiting waitAnswer `json:"waiting"`
}

type waitAnswer struct {
	Why     v1alpha1.Admission `json:"why"`
	Since   time.Time          `json:"since"`
	Message string             `json:"message,omitempty"`
}

func waitOf(a admission.Admission) waitAnswer {
	return waitAnswer{Why: a.Meeting.Admission, Since: a.Since.UTC(), Message: a.Message}
}

type engineAnswer struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

type meetingAnswer struct {
	Room      string    `json:"room"`
	URL       string    `json:"url"`
	Duration  string    `json:"duration"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

type youAnswer struct {
	Identity engine.Identity `json:"identity"`
	meeting.JoinOptions
	// History says that the participant may ask others for the chat of this meeting.
	History bool `json:"history"`
	// Hidden is JoinOptions.Hide, by the name that pages read which were loaded before an update.
	Hidden bool `json:"hidden"`
}

// grantOf is what the token of a participant says. That of one who waits tells the gateway alone who they are.
func grantOf(q *httpserver.Request, a admission.Admission) engine.Grant {
	traits := engine.Traits{
		Presenter: a.Presenter, Granted: a.Granted, Promoted: a.Rights.Promoted, Username: a.Username,
		Since: a.Since, Message: a.Message, In: a.WasIn(),
	}
	traits.OS, traits.Browser = client(q.HTTP.UserAgent())
	g := engine.Grant{Room: a.Meeting.EngineRoom, Identity: a.Identity, Name: a.Name, Traits: traits, Lifetime: grantLifetime}
	if a.Waits() {
		g.Room, g.Waiting = meeting.WaitingRoom(g.Room), true
		return g
	}
	g.Hidden, g.Chat, g.Notify, g.Avatar = a.Hide, a.Chat, a.Notify, string(a.Avatar)
	g.Forbidden, g.Held = a.Rights.Forbidden, a.Rights.Held
	return g
}

// meetingAnswerOf is what a page is told of the meeting. One who waits does not learn when it began.
func meetingAnswerOf(a admission.Admission) meetingAnswer {
	v := a.Meeting
	m := meetingAnswer{Room: v.Room, URL: v.URL, Duration: v.Length.Clock()}
	if !a.Waits() {
		m.StartedAt, m.ExpiresAt = v.Started.UTC(), v.Expires.UTC()
	}
	return m
}

// answerOf makes what the page of a participant gets.
func (h *handler) answerOf(q *httpserver.Request, a admission.Admission) (sessionAnswer, error) {
	now, view := h.ClusterTime(), a.Meeting
	media := q.Tenant.MediaAt(view.MediaServer)
	if media == nil {
		return sessionAnswer{}, admission.ErrNoMedia
	}
	token, err := media.Engine.Grant(grantOf(q, a))
	if err != nil {
		return sessionAnswer{}, err
	}
	session, err := q.Tenant.Signer.IssueSession(a.Session(), q.Tenant.Users, 0, now)
	if err != nil {
		return sessionAnswer{}, err
	}
	you := youAnswer{
		Identity: a.Identity, JoinOptions: a.Without(a.Rights.Forbidden), History: a.Chat && !a.Hide && !q.Tenant.ChatHidden, Hidden: a.Hide,
	}
	return sessionAnswer{
		Session: session,
		Engine:  engineAnswer{URL: engineURL(q.Tenant), Token: token},
		Meeting: meetingAnswerOf(a),
		You:     you,
		Home:    q.Tenant.Web.HomeURL,
		Now:     now.UTC(),
	}, nil
}
