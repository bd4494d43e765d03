// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

func TestStats(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	w.meetings.totals = meeting.Totals{Rooms: 3, Users: 42}
	got := w.do(http.MethodGet, "stats", "")
	want := `{"success":true,"timestamp":"2026-03-01T09:30:00Z","totalRooms":3,"totalUsers":42,"totalPeers":42}`
	if got.body != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
}

func TestMeetings(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	if got := w.do(http.MethodGet, "meetings", ""); got.body != `{"meetings":[]}` {
		t.Errorf("none: %s", got.body)
	}
	east := time.FixedZone("east", 2*3600)
	w.meetings.live = []meeting.View{
		{
			Room: "a \"b\" ☕", Length: meeting.Length(time.Hour), Created: start, Started: start.Add(time.Minute).In(east),
			Expires: start.Add(61 * time.Minute), Status: &v1alpha1.MeetingStatus{ParticipantCount: 2},
			Peers: []v1alpha1.Participant{
				{Identity: "i1", Name: "Ada </script>\u2028", Presenter: true, Audio: true, Screen: true, OS: "Linux", Browser: "Firefox 145"},
				{Identity: "i2", Name: "Eve", Video: true, Hand: true, Hidden: true},
			},
		},
		{Room: "empty", Created: start.Add(time.Second)},
	}
	got := w.do(http.MethodGet, "meetings", "")
	want := `{"meetings":[{"roomId":"a \"b\" ☕","url":"https://meet.example.com/video/join/a%20%22b%22%20%E2%98%95",` +
		`"startedAt":"2026-03-01T09:31:00Z","expiresAt":"2026-03-01T10:31:00Z","duration":"01:00:00","participants":2,"peers":[` +
		`{"name":"Ada </script>` + "\u2028" + `","presenter":true,"video":false,"audio":true,"screen":true,"hand":false,"os":"Linux","browser":"Firefox 145","hidden":false},` +
		`{"name":"Eve","presenter":false,"video":true,"audio":false,"screen":false,"hand":true,"os":"","browser":"","hidden":true}]},` +
		`{"roomId":"empty","url":"https://meet.example.com/video/join/empty","startedAt":"2026-03-01T09:30:01Z","duration":"unlimited","participants":0,"peers":[]}]}`
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestManyMeetings is a listing of several chunks.
func TestManyMeetings(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	w.meetings.live = manyMeetings(500, 10)
	got := w.do(http.MethodGet, "meetings", "")
	var listing struct{ Meetings []struct{ RoomID string } }
	if err := json.Unmarshal([]byte(got.body), &listing); err != nil {
		t.Fatal(err)
	}
	if len(got.body) < 10*chunk || len(listing.Meetings) != 500 {
		t.Fatalf("%d bytes, %d meetings", len(got.body), len(listing.Meetings))
	}
	for i, m := range listing.Meetings {
		if m.RoomID != w.meetings.live[i].Room {
			t.Fatalf("meeting %d is %q", i, m.RoomID)
		}
	}
}

// TestPagesOfMeetings reads both forms of the list page by page.
func TestPagesOfMeetings(t *testing.T) {
	for _, byRoom := range []bool{false, true} {
		w := newWorld(t, testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Compat.MeetingsByRoom = byRoom })).serve()
		w.meetings.live = manyMeetings(5, 1)
		for i := range w.meetings.live {
			w.meetings.live[i].UID = fmt.Sprintf("uid-%d", i)
		}
		var pages []string
		for query := "limit=2"; query != ""; {
			answer := w.do(http.MethodGet, "meetings?"+query, "").json(t)
			var rooms []string
			switch list := answer["meetings"].(type) {
			case []any:
				for _, m := range list {
					rooms = append(rooms, m.(map[string]any)["roomId"].(string))
				}
			case map[string]any:
				rooms = slices.Sorted(maps.Keys(list))
			}
			pages = append(pages, strings.Join(rooms, " "))
			query = ""
			if next, ok := answer["next"].(string); ok {
				query = url.Values{"limit": {"2"}, "after": {next}}.Encode()
			}
		}
		if diff := cmp.Diff([]string{"room-0 room-1", "room-2 room-3", "room-4"}, pages); diff != "" {
			t.Errorf("by room %v (-want +got):\n%s", byRoom, diff)
		}
	}
}

// TestHowLongAPageIs: without limit and after a list is whole, and without limit a page has a hundred entries.
func TestHowLongAPageIs(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	w.meetings.live = manyMeetings(1500, 0)
	for i := range w.meetings.live {
		w.meetings.live[i].UID = fmt.Sprintf("uid-%04d", i)
	}
	first := url.QueryEscape(meeting.Cursor{At: start, ID: "uid-0000"}.String())
	for query, want := range map[string]int{
		"": 1500, "?limit=": 1500, "?after=": 1500, "?other=1": 1500, "?limit=1": 1, "?limit=1000": 1000, "?after=" + first: 100, "?limit=1000&after=" + first: 1000,
	} {
		var answer struct {
			Meetings []struct{}
			Next     string
		}
		got := w.do(http.MethodGet, "meetings"+query, "")
		if err := json.Unmarshal([]byte(got.body), &answer); err != nil || len(answer.Meetings) != want || (answer.Next != "") != (want < 1499) {
			t.Errorf("%q: %d meetings, next is %q, %v", query, len(answer.Meetings), answer.Next, err)
		}
	}
	for query, want := range map[string]string{
		"limit=0": "limit", "limit=1001": "limit", "limit=-1": "limit", "limit=x": "limit", "limit=1.0": "limit", "after=x": "after", "limit=5&after=1.": "after",
		"limit=5;after=1.a": "The query", "after=%zz": "The query",
	} {
		if got := w.do(http.MethodGet, "meetings?"+query, ""); got.status != http.StatusBadRequest || !strings.HasPrefix(got.text(t, "error"), want+" must be ") {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

func manyMeetings(n, peers int) []meeting.View {
	live := make([]meeting.View, n)
	for i := range live {
		live[i] = meeting.View{
			Room: fmt.Sprintf("room-%d", i), Length: meeting.Length(time.Hour), Created: start, Started: start,
			Expires: start.Add(time.Hour), Status: &v1alpha1.MeetingStatus{ParticipantCount: int32(peers)},
		}
		for j := range peers {
			live[i].Peers = append(live[i].Peers, v1alpha1.Participant{
				Identity: fmt.Sprintf("p%d", j), Name: fmt.Sprintf("Person %d", j), Audio: true, Video: j%2 == 0, OS: "Linux", Browser: "Firefox 145",
			})
		}
	}
	return live
}

func TestCreate(t *testing.T) {
	for _, tc := range []struct {
		reason, body string
		want         conference.CreateCommand
	}{
		{"a room alone", `{"room":"a"}`, conference.CreateCommand{Room: "a"}},
		{
			"everything", `{"room":"r","duration":"01:00:00","roomPassword":"sesame","maxParticipants":5,"redirect":"https://example.com/bye","x":1}`,
			conference.CreateCommand{Room: "r", Duration: "1h", Password: new("sesame"), MaxParticipants: 5, Redirect: new("https://example.com/bye")},
		},
		{"nothing but the room", `{"room":"r","duration":null,"roomPassword":null,"maxParticipants":null,"redirect":null}`, conference.CreateCommand{Room: "r"}},
		{"no password, and the home page", `{"room":"r","roomPassword":"false","redirect":""}`, conference.CreateCommand{Room: "r", Password: new(""), Redirect: new("")}},
		{"a whole number as a fraction", `{"room":"r","maxParticipants":5.0}`, conference.CreateCommand{Room: "r", MaxParticipants: 5}},
	} {
		for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
			w := newWorld(t, testTenant(variant, limited)).serve()
			got := w.do(http.MethodPost, "meeting", tc.body)
			if want := fmt.Sprintf(`{"meeting":"%s/join/%s"}`, baseURL, tc.want.Room); got.status != http.StatusOK || got.body != want {
				t.Errorf("%s: %d %s, want %s", tc.reason, got.status, got.body, want)
			}
			if diff := cmp.Diff([]any{tc.want}, w.meetings.took()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		}
	}
}

// TestNothingIsAFineBody sends what a client may send that has nothing to say.
func TestNothingIsAFineBody(t *testing.T) {
	rooms := map[string]bool{}
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	for _, body := range []string{"", " \r\n\t", "null", " null ", "{}", "[]", "\n[ ]\n", "\xef\xbb\xbf[]", "\xef\xbb\xbf{}", "\xef\xbb\xbf", `{"unknown":true}`} {
		for _, contentType := range []string{"", "application/json", "application/x-www-form-urlencoded", "nonsense"} {
			got := w.do(http.MethodPost, "meeting/", body, header("Content-Type", contentType))
			if got.status != http.StatusOK {
				t.Errorf("%q as %q: %d %s", body, contentType, got.status, got.body)
				continue
			}
			room := strings.TrimPrefix(got.text(t, "meeting"), baseURL+"/join/")
			if len(room) != 36 || rooms[room] {
				t.Errorf("%q: the room is %q", body, room)
			}
			rooms[room] = true
		}
	}
}

func TestCreateTwice(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	for _, tc := range []struct {
		duration string
		status   int
	}{{"01:00:00", 200}, {"01:00:00", 200}, {"02:00:00", 409}} {
		if got := w.do(http.MethodPost, "meeting", `{"room":"r","duration":"`+tc.duration+`"}`); got.status != tc.status {
			t.Errorf("%s: %d %s", tc.duration, got.status, got.body)
		}
	}
}

func TestEnd(t *testing.T) {
	const saysEnded = `{"success":true,"message":"Meeting ended","room":"stand-up"}`
	for _, tc := range []struct {
		reason, room, body string
		ending             bool
		status             int
		want               string
		redirect           *string
	}{
		{"no body", "stand-up", "", false, 200, saysEnded, nil},
		{"an empty object", "stand-up", "{}", false, 200, saysEnded, nil},
		{"null", "stand-up", `{"redirect":null}`, false, 200, saysEnded, nil},
		{"home", "stand-up", `{"redirect":""}`, false, 200, saysEnded, new("")},
		{
			"a redirect", "stand-up", `{"redirect":"https://www.example.net/bye?x=1#y"}`, false, 200,
			saysEnded, new("https://www.example.net/bye?x=1#y"),
		},
		{"a redirect in the query", "stand-up?redirect=https%3A%2F%2Fexample.com%2Fbye%3Fa%3D1%2B1", "", false, 200, saysEnded, new("https://example.com/bye?a=1+1")},
		{"in the query, beside a body that names none", "stand-up?redirect=https://example.com/bye", `{"reason":"over"}`, false, 200, saysEnded, new("https://example.com/bye")},
		{"in the query, and another in the body", "stand-up?redirect=https://example.com/bye", `{"redirect":"https://www.example.net/"}`, false, 200, saysEnded, new("https://www.example.net/")},
		{"the home page in the query", "stand-up?redirect=", "", false, 200, saysEnded, new("")},
		{"other words in the query", "stand-up?reason=a%5Bb%5D&c[d]=e", "", false, 200, saysEnded, nil},
		{"it takes long", "stand-up", "", true, 202, `{"success":true,"message":"Meeting ending","room":"stand-up"}`, nil},
		{"nobody's room", "other", "", false, 404, `{"success":false,"error":"No meeting of this room is active; GET /api/v1/meetings lists those that are"}`, nil},
		{"encoded once", "a%20%C3%BC%2520%22", "", false, 200, `{"success":true,"message":"Meeting ended","room":"a ü%20\""}`, nil},
		{"a plus is a plus", "1+1", "", false, 200, `{"success":true,"message":"Meeting ended","room":"1+1"}`, nil},
		{"as people write it", "ü", "", false, 200, `{"success":true,"message":"Meeting ended","room":"ü"}`, nil},
	} {
		w := newWorld(t, testTenant(v1alpha1.VariantA, limited)).serve()
		w.meetings.ending = tc.ending
		var decoded struct{ Room string }
		if err := json.Unmarshal([]byte(tc.want), &decoded); err != nil {
			t.Fatal(err)
		}
		w.meetings.reset(decoded.Room)
		got := w.do(http.MethodDelete, "meeting/"+tc.room, tc.body)
		if got.status != tc.status || got.body != tc.want {
			t.Errorf("%s: %d %s\nwant %d %s", tc.reason, got.status, got.body, tc.status, tc.want)
		}
		if decoded.Room == "" {
			decoded.Room = tc.room
		}
		if diff := cmp.Diff([]any{conference.EndCommand{Room: decoded.Room, Redirect: tc.redirect}}, w.meetings.took()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
