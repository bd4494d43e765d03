// SPDX-License-Identifier: Apache-2.0

package web

import (
	"time"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/httpserver"
)

// grantLifetime bounds the first connect; the engine renews the tokens of those who are in.
const grantLifetime = 2 * time.Minute

// sessionAnswer is what a page needs to be in a meeting.
type sessionAnswer struct {
	Session string        `json:"session"`
	Engine  engineAnswer  `json:"engine"`
	Meeting meetingAnswer `json:"meeting"`
	You     youAnswer     `json:"you"`
	Home    string        `json:"home"`
	Now     time.Time     `json:"now"`
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
	Identity  engine.Identity `json:"identity"`
	Name      string          `json:"name"`
	Avatar    string          `json:"avatar,omitempty"`
	Audio     bool            `json:"audio"`
	Video     bool            `json:"video"`
	Screen    bool            `json:"screen"`
	Chat      bool            `json:"chat"`
	Hidden    bool            `json:"hidden"`
	Notify    bool            `json:"notify"`
	Presenter bool            `json:"presenter"`
}

// answerOf makes what the page of a participant gets.
func (h *handler) answerOf(q *httpserver.Request, a admission.Admission) (sessionAnswer, error) {
	now, view := h.ClusterTime(), a.Meeting
	traits := engine.Traits{
		Presenter: a.Presenter, Granted: a.Granted, Hidden: a.Hide, Chat: a.Chat, Notify: a.Notify, Avatar: a.Avatar, Username: a.Username,
	}
	traits.OS, traits.Browser = client(q.HTTP.UserAgent())
	media := q.Tenant.MediaAt(view.MediaServer)
	if media == nil {
		return sessionAnswer{}, admission.ErrNoMedia
	}
	token, err := media.Engine.Grant(engine.Grant{
		Room: view.EngineRoom, Identity: a.Identity, Name: a.Name, Traits: traits, Forbidden: a.Rights.Forbidden, Lifetime: grantLifetime,
	})
	if err != nil {
		return sessionAnswer{}, err
	}
	session, err := q.Tenant.Signer.IssueSession(a.Session(view, a.Identity), q.Tenant.Users, 0, now)
	if err != nil {
		return sessionAnswer{}, err
	}
	may := func(what engine.Abilities) bool { return a.Rights.Forbidden&what == 0 }
	return sessionAnswer{
		Session: session,
		Engine:  engineAnswer{URL: engineURL(q.Tenant, media), Token: token},
		Meeting: meetingAnswer{
			Room: view.Room, URL: view.URL, Duration: view.Length.Clock(),
			StartedAt: view.Started.UTC(), ExpiresAt: view.Expires.UTC(),
		},
		You: youAnswer{
			Identity: a.Identity, Name: a.Name, Avatar: a.Avatar, Audio: a.Audio && may(engine.Microphone),
			Video: a.Video && may(engine.Camera), Screen: a.Screen && may(engine.Screen), Chat: a.Chat, Hidden: a.Hide, Notify: a.Notify, Presenter: a.Presenter,
		},
		Home: q.Tenant.Web.Home,
		Now:  now.UTC(),
	}, nil
}
