// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
)

// list is GET meetings: all of them, or a page where one is asked for.
func (a *api) list(q *httpserver.Request) (httpserver.Answer, error) {
	page, err := readPage(q.HTTP.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	if page != (meeting.Page{}) {
		page.Limit = cmp.Or(page.Limit, defaultPage)
	}
	live, next := a.meetings.Live(q.HTTP.Context(), q.Tenant, page)
	return httpserver.Stream(func(w http.ResponseWriter) {
		w.Header()["Content-Type"] = []string{"application/json"}
		// An error means that the client has gone.
		_ = meetingList{live, q.Tenant.Compat.MeetingsByRoom, next.String()}.write(w)
	}), nil
}

// defaultPage and maxPage count the entries of a page.
const defaultPage, maxPage = 100, 1000

// readPage reads which part of a list is asked for. A limit that is not named is zero.
func readPage(rawQuery string) (p meeting.Page, err error) {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return p, fault.Invalid("", "The query must be encoded as application/x-www-form-urlencoded; correct it").Because(err)
	}
	if text := query.Get("limit"); text != "" {
		if p.Limit, err = strconv.Atoi(text); err != nil || p.Limit < 1 || p.Limit > maxPage {
			return p, fault.Invalid("limit", "limit must be a whole number from 1 to %d", maxPage)
		}
	}
	after, ok := meeting.ParseCursor(query.Get("after"))
	if !ok {
		return p, fault.Invalid("after", "after must be next of the previous page")
	}
	p.After = after
	return p, nil
}

// chunk counts the bytes that are gathered before a write: a large listing is on its way while the rest is encoded. Half as much costs
// a quarter more, in calls of the system.
const chunk = 64 << 10

// buffers are used again, because an answer of that size for each request would keep the garbage collector busy.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// meetingList is the answer of GET meetings. With byRoom it has what MiroTalk P2P writes: participants by their identity, in objects by
// the name of their room. A room has one live meeting.
type meetingList struct {
	live   iter.Seq[*meeting.View]
	byRoom bool
	// next is the parameter after of the next page; empty on the last.
	next string
}

// write writes the list without holding all of it in memory.
func (l meetingList) write(w io.Writer) error {
	out := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(out)
	out.Reset()
	begin, end := `{"meetings":[`, `]`
	if l.byRoom {
		begin, end = `{"meetings":{`, `}`
	}
	out.WriteString(begin)
	var body meetingBody
	separator := ""
	for v := range l.live {
		out.WriteString(separator)
		separator = ","
		if err := l.add(out, v, &body); err != nil {
			return err
		}
		if out.Len() >= chunk {
			if _, err := out.WriteTo(w); err != nil {
				return err
			}
		}
	}
	out.WriteString(end)
	if l.next != "" {
		out.WriteString(`,"next":`)
		if err := encode(out, l.next); err != nil {
			return err
		}
	}
	out.WriteString(`}`)
	_, err := out.WriteTo(w)
	return err
}

// add adds a meeting. The body is scratch.
func (l meetingList) add(out *bytes.Buffer, v *meeting.View, body *meetingBody) error {
	if !l.byRoom {
		body.fill(v)
		return encode(out, body)
	}
	if err := encode(out, v.Room); err != nil {
		return err
	}
	out.WriteString(`:`)
	return encode(out, peersByIdentity(v.Peers))
}

func encode(out *bytes.Buffer, value any) error {
	return json.MarshalWrite(out, value, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// meetingBody has the members of a meeting in every answer.
type meetingBody struct {
	RoomID       string     `json:"roomId"`
	URL          string     `json:"url"`
	StartedAt    string     `json:"startedAt"`
	ExpiresAt    string     `json:"expiresAt,omitempty"`
	Duration     string     `json:"duration"`
	Participants int32      `json:"participants"`
	Peers        []peerBody `json:"peers"`
}

func meetingBodyOf(v *meeting.View) (m meetingBody) {
	m.fill(v)
	return m
}

// fill writes a meeting into the body, and uses the memory of its peers again.
func (m *meetingBody) fill(v *meeting.View) {
	*m = meetingBody{
		RoomID: v.Room, URL: v.URL, StartedAt: timestamp(v.Begin()), Duration: v.Length.Clock(), Participants: v.Counted().ParticipantCount,
		Peers: m.Peers[:0],
	}
	if !v.Expires.IsZero() {
		m.ExpiresAt = timestamp(v.Expires)
	}
	for i := range v.Peers {
		p := &v.Peers[i]
		m.Peers = append(m.Peers, peerBody{p.Name, p.Presenter, p.Video, p.Audio, p.Screen, p.Hand, p.OS, p.Browser, p.Hidden})
	}
}

type peerBody struct {
	Name      string `json:"name"`
	Presenter bool   `json:"presenter"`
	Video     bool   `json:"video"`
	Audio     bool   `json:"audio"`
	Screen    bool   `json:"screen"`
	Hand      bool   `json:"hand"`
	OS        string `json:"os"`
	Browser   string `json:"browser"`
	Hidden    bool   `json:"hidden"`
}

// peerByRoom is a participant with the names of MiroTalk P2P. A device that is there and a device that is on are two members there, and
// one fact here.
type peerByRoom struct {
	Name         string `json:"peer_name"`
	Presenter    bool   `json:"peer_presenter"`
	Video        bool   `json:"peer_video"`
	Audio        bool   `json:"peer_audio"`
	VideoStatus  bool   `json:"peer_video_status"`
	AudioStatus  bool   `json:"peer_audio_status"`
	ScreenStatus bool   `json:"peer_screen_status"`
	HandStatus   bool   `json:"peer_hand_status"`
	Hidden       bool   `json:"hidden"`
	OS           string `json:"os"`
	Browser      string `json:"browser"`
}

// peersByIdentity are written as an object.
type peersByIdentity []v1alpha1.Participant

// MarshalJSONTo writes participant after participant.
func (peers peersByIdentity) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range peers {
		p := &peers[i]
		if err := e.WriteToken(jsontext.String(p.Identity)); err != nil {
			return err
		}
		by := peerByRoom{p.Name, p.Presenter, p.Video, p.Audio, p.Video, p.Audio, p.Screen, p.Hand, p.Hidden, p.OS, p.Browser}
		if err := json.MarshalEncode(e, &by); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}
