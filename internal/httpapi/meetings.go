// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"cmp"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
)

// list is GET meetings: all of them, or a page where one is asked for.
func (a *api) list(q *httpserver.Request) (httpserver.Answer, error) {
	page, err := readPage(q.HTTP.URL.Query())
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
		_ = writeMeetings(w, meetingList{live, q.Tenant.Compat.MeetingsByRoom, next.String()})
	}), nil
}

// defaultPage and maxPage count the entries of a page.
const defaultPage, maxPage = 100, 1000

// readPage reads which part of a list is asked for. A limit that is not named is zero.
func readPage(query url.Values) (p meeting.Page, err error) {
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

// writeMeetings writes a list without holding all of it in memory.
func writeMeetings(w http.ResponseWriter, list meetingList) error {
	gathered := bufio.NewWriterSize(w, chunk)
	if err := json.MarshalWrite(gathered, list, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return err
	}
	return gathered.Flush()
}

// meetingList is the answer of GET meetings. With byRoom it has what MiroTalk P2P writes: participants by their identity, in objects by
// the name of their room. A room has one live meeting.
type meetingList struct {
	live   iter.Seq[*meeting.View]
	byRoom bool
	// next is the parameter after of the next page; empty on the last.
	next string
}

// MarshalJSONTo writes meeting after meeting.
func (l meetingList) MarshalJSONTo(e *jsontext.Encoder) error {
	begin, end := jsontext.BeginArray, jsontext.EndArray
	if l.byRoom {
		begin, end = jsontext.BeginObject, jsontext.EndObject
	}
	if err := writeTokens(e, jsontext.BeginObject, jsontext.String("meetings"), begin); err != nil {
		return err
	}
	for v := range l.live {
		if err := l.write(e, v); err != nil {
			return err
		}
	}
	rest := []jsontext.Token{end}
	if l.next != "" {
		rest = append(rest, jsontext.String("next"), jsontext.String(l.next))
	}
	return writeTokens(e, append(rest, jsontext.EndObject)...)
}

func (l meetingList) write(e *jsontext.Encoder, v *meeting.View) error {
	if !l.byRoom {
		return json.MarshalEncode(e, meetingBodyOf(v))
	}
	if err := writeTokens(e, jsontext.String(v.Room), jsontext.BeginObject); err != nil {
		return err
	}
	for i := range v.Peers {
		if err := e.WriteToken(jsontext.String(v.Peers[i].Identity)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, peerByRoomOf(&v.Peers[i])); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

func writeTokens(e *jsontext.Encoder, tokens ...jsontext.Token) error {
	for _, t := range tokens {
		if err := e.WriteToken(t); err != nil {
			return err
		}
	}
	return nil
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

func meetingBodyOf(v *meeting.View) *meetingBody {
	m := &meetingBody{
		RoomID: v.Room, URL: v.URL, StartedAt: timestamp(v.Begin()), Duration: v.Length.Clock(), Participants: v.Counted().ParticipantCount,
		Peers: make([]peerBody, len(v.Peers)),
	}
	if !v.Expires.IsZero() {
		m.ExpiresAt = timestamp(v.Expires)
	}
	for i := range v.Peers {
		p := &v.Peers[i]
		m.Peers[i] = peerBody{p.Name, p.Presenter, p.Video, p.Audio, p.Screen, p.Hand, p.OS, p.Browser, p.Hidden}
	}
	return m
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

func peerByRoomOf(p *v1alpha1.Participant) *peerByRoom {
	return &peerByRoom{p.Name, p.Presenter, p.Video, p.Audio, p.Video, p.Audio, p.Screen, p.Hand, p.Hidden, p.OS, p.Browser}
}
