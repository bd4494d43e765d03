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

// writeMeetings writes a list, or byRoom what MiroTalk P2P writes: participants by their identity, in objects by the name of their
// room. A room has one live meeting.
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
			writePeersByIdentity(e, v.Peers)
		} else {
			e.raw(`{`)
			writeMeeting(e, v)
			e.raw(`}`)
		}
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

// writePeersByIdentity writes participants with the names of MiroTalk P2P. A device that is there and a device that is on are two
// members there, and one fact here.
func writePeersByIdentity(e *encoder, peers []v1alpha1.Participant) {
	e.raw(`{`)
	for i := range peers {
		p := &peers[i]
		if i > 0 {
			e.raw(`,`)
		}
		e.string(p.Identity)
		e.raw(`:{"peer_name":`)
		e.string(p.Name)
		for _, flag := range []struct {
			name  string
			value bool
		}{
			{`,"peer_presenter":`, p.Presenter},
			{`,"peer_video":`, p.Video},
			{`,"peer_audio":`, p.Audio},
			{`,"peer_video_status":`, p.Video},
			{`,"peer_audio_status":`, p.Audio},
			{`,"peer_screen_status":`, p.Screen},
			{`,"peer_hand_status":`, p.Hand},
			{`,"hidden":`, p.Hidden},
		} {
			e.raw(flag.name)
			e.bool(flag.value)
		}
		e.raw(`,"os":`)
		e.string(p.OS)
		e.raw(`,"browser":`)
		e.string(p.Browser)
		e.raw(`}`)
	}
	e.raw(`}`)
}
