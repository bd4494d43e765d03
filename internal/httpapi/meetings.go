// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"net/http"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
)

// list is GET meetings.
func (a *api) list(q *httpserver.Request) (httpserver.Answer, error) {
	live := a.meetings.Live(q.HTTP.Context(), q.Tenant)
	return httpserver.Stream(func(w http.ResponseWriter) {
		w.Header()["Content-Type"] = []string{"application/json"}
		e := newEncoder(w)
		defer e.release()
		writeMeetings(e, live, q.Tenant.Compat.MeetingsByRoom)
		e.flush()
	}), nil
}

// writeMeetings writes a list, or byRoom the form of older clients: an object whose names are those of the rooms. A room has one
// live meeting.
func writeMeetings(e *encoder, live iter.Seq[*meeting.View], byRoom bool) {
	opening, closing := `{"meetings":[`, `]}`
	if byRoom {
		opening, closing = `{"meetings":{`, `}}`
	}
	e.raw(opening)
	first := true
	for v := range live {
		if !first {
			e.raw(`,`)
		}
		first = false
		if byRoom {
			e.string(v.Room)
			e.raw(`:`)
		}
		e.raw(`{`)
		writeMeeting(e, v)
		e.raw(`}`)
		if !e.spill() {
			return
		}
	}
	e.raw(closing)
}

// writeMeeting writes the members that a meeting has in every answer.
func writeMeeting(e *encoder, v *meeting.View) {
	e.raw(`"roomId":`)
	e.string(v.Room)
	e.raw(`,"url":`)
	e.string(v.URL)
	e.raw(`,"startedAt":`)
	e.time(v.Begin())
	if !v.Expires.IsZero() {
		e.raw(`,"expiresAt":`)
		e.time(v.Expires)
	}
	e.raw(`,"duration":`)
	e.string(v.Length.Clock())
	e.raw(`,"participants":`)
	e.int(int(v.Counted().ParticipantCount))
	e.raw(`,"peers":[`)
	for i := range v.Peers {
		if i > 0 {
			e.raw(`,`)
		}
		writePeer(e, &v.Peers[i])
	}
	e.raw(`]`)
}

func writePeer(e *encoder, p *v1alpha1.Participant) {
	e.raw(`{"name":`)
	e.string(p.Name)
	e.raw(`,"presenter":`)
	e.bool(p.Presenter)
	e.raw(`,"video":`)
	e.bool(p.Video)
	e.raw(`,"audio":`)
	e.bool(p.Audio)
	e.raw(`,"screen":`)
	e.bool(p.Screen)
	e.raw(`,"hand":`)
	e.bool(p.Hand)
	e.raw(`,"os":`)
	e.string(p.OS)
	e.raw(`,"browser":`)
	e.string(p.Browser)
	e.raw(`,"hidden":`)
	e.bool(p.Hidden)
	e.raw(`}`)
}
