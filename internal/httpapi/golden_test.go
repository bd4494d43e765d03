// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/golden"
)

// goldenBodies are the requests with a body, and what they take.
var goldenBodies = []struct {
	method, path string
	golden.Shape
}{
	{http.MethodPost, "join", golden.Shape{Whole: `{"room":"stand-up","name":"Ada"}`, Members: map[string][]string{
		"room": {`"a/b"`, `".."`, `" x "`, `"stand-up"`}, "name": {`"  Ada   L.  "`},
		"avatar": {`"https://example.com/a.png"`, `"//example.com/a.png"`, `"http://example.com/a b.png"`, `"javascript:alert(1)"`,
			`"https://user:pass@example.com/"`, `"/a.png"`, `"data:image/png;base64,AAAA"`},
		"audio": nil, "video": nil, "screen": nil, "chat": nil, "hide": nil, "notify": nil, "presenter": nil,
		"duration": clocks, "roomPassword": passwords,
		"token": {
			`{"username":"ada"}`, `{"username":"ada","password":"correct-horse"}`, `{"username":"ada","password":"correct-horse","presenter":true,"expire":"2h"}`,
			`{"username":"ada","password":"wrong"}`, `{"username":7,"presenter":"1","expire":3600}`, `{"username":"ada","password":"correct-horse","expire":"0s"}`,
			`{"username":"ada","presenter":"maybe"}`,
			`{"username":"ada","username":"bob"}`, `{"username":null}`, `{"username":["ada"]}`, `{"USERNAME":"ada"}`,
			`"{\"username\":\"ada\",\"password\":\"correct-horse\"}"`,
			`"{\"username\":\"ada\"} "`, `"[]"`, `"TRUE"`, `"1"`, `"eyJhbGciOiJIUzI1NiJ9.e30.AAAA"`, `[{"username":"ada"}]`,
		},
	}}},
	{http.MethodPost, "token", golden.Shape{Whole: `{"username":"ada","password":"correct-horse"}`, Members: map[string][]string{
		"username": {`"bob"`, `"ada\u0007"`}, "password": {`"correct-horse"`, `"wrong"`}, "presenter": nil,
		"expire": {`"1h"`, `"30 minutes"`, `"1.5 days"`, `"1y"`, `"2 DAYS"`, `"0h"`, `"1"`, `3600`, `0.5`, `86400`, `1e9`, `"31d"`, `"1 fortnight"`, `"h"`},
	}}},
	{http.MethodPost, "meeting", golden.Shape{Whole: `{"room":"board"}`, Members: map[string][]string{
		"room": {`"a/b"`, `"."`, `" x "`, `"stand-up"`}, "duration": clocks, "roomPassword": passwords, "redirect": addresses,
		"maxParticipants": {`300`, `301`, `"300"`, `3e2`, `"1e2"`, `" 5"`},
	}}},
	{http.MethodDelete, "meeting/stand-up", golden.Shape{Whole: `{"redirect":"https://example.com/whole"}`, Members: map[string][]string{"redirect": addresses}}},
	{http.MethodPatch, "meeting/stand-up", golden.Shape{Whole: `{"locked":true}`, Members: map[string][]string{
		"duration": clocks, "maxParticipants": {`300`, `301`, `"5"`}, "redirect": addresses, "locked": nil, "admitAll": nil, "muteAll": nil,
		"admission": {`"Open"`, `"WITHPRESENTER"`, `"ask"`, `"Never"`, `" Ask"`},
		"policy": {
			`{"chat":"Presenters"}`, `{"chat":"presenters","camera":"EVERYONE","microphone":"Everyone","screen":"Presenters"}`, `{"chat":null}`, `{"chat":""}`,
			`{"chat":"nobody"}`, `{"chat":7}`,
			`{"chat":"Presenters","chat":"Everyone"}`, `{"CHAT":"Presenters"}`, `{"chat":"Presenters","other":1}`, `"{\"chat\":\"Presenters\"}"`,
			`[{"chat":"Presenters"}]`, `{"chat":["Presenters"]}`,
		},
	}}},
	{http.MethodPatch, "meeting/stand-up/participants/ann-1", golden.Shape{Whole: `{"hand":false}`, Members: map[string][]string{
		"role": {`"Presenter"`, `"PARTICIPANT"`, `"owner"`}, "muted": nil, "hand": nil, "admitted": nil, "sources": sources, "grantedSources": sources,
		"allowToSpeak": nil, "askToUnmute": nil,
		"media": {`{"audio":false}`, `{"audio":false,"video":false,"screen":false}`, `{"audio":true}`, `{"video":null}`, `{"other":false}`, `{"screen":"no"}`},
	}}},
	{http.MethodDelete, "meeting/stand-up/participants/ann-1", golden.Shape{Whole: `{"ban":true}`, Members: map[string][]string{"ban": nil}}},
	{http.MethodPost, "meeting/stand-up/announcements", golden.Shape{Whole: `{"text":"Hello"}`, Members: map[string][]string{
		"text": {`"  Hello  "`, `"a\nb"`}, "id": {`"one"`, `"a b"`, `"äöü"`}, "to": {`"ann-1"`, `"user:ann"`, `"user:"`, `"a b"`, `"-a"`},
	}}},
}

var (
	clocks    = []string{`"01:30:00"`, `"1:30:00"`, `"01:30"`, `"00:00:00"`, `"99:59:59"`, `"unlimited"`, `" UNLIMITED "`, `"01:60:00"`, `"90"`, `"1h"`}
	passwords = []string{`"open sesame"`, `" open sesame "`, `"undefined"`, `"<no value>"`, `"$2y$05$abcdefghijklmnopqrstuuHGV0tC1ZdUfBeLKR3mWcrL1Gxs4KeeS"`, `[false]`}
	addresses = []string{`"https://example.com/bye"`, `"http://example.com"`, `"/bye"`, `"//example.com"`, `"javascript:alert(1)"`,
		`"https://user:pass@example.com/"`, `" https://example.com/ "`}
	sources = []string{`["Microphone"]`, `["microphone","CAMERA","Screen","screen"]`, `["Chat"]`, `["Microphone",7]`, `"Microphone"`, `"[\"Microphone\"]"`,
		`[["Microphone"]]`}
)

// goldenGets are requests without a body.
var goldenGets = []struct{ method, path string }{
	{http.MethodGet, "stats"}, {http.MethodHead, "stats"}, {http.MethodGet, "stats/"}, {http.MethodPost, "stats"}, {http.MethodOptions, "stats"},
	{http.MethodGet, "meetings"}, {http.MethodHead, "meetings"}, {http.MethodGet, "meetings?room=stand-up"}, {http.MethodDelete, "meetings"},
	{http.MethodGet, "meeting"}, {http.MethodOptions, "meeting"}, {http.MethodOptions, "join"}, {http.MethodGet, "join"}, {http.MethodPut, "token"},
	{http.MethodOptions, "token"},
	{http.MethodGet, "meeting/stand-up"}, {http.MethodHead, "meeting/stand-up"}, {http.MethodGet, "meeting/nobody"}, {http.MethodGet, "meeting/a%2Fb"},
	{http.MethodOptions, "meeting/stand-up"},
	{http.MethodDelete, "meeting/nobody"}, {http.MethodDelete, "meeting/%FF"}, {http.MethodDelete, "meeting/stand-up/"}, {http.MethodPost, "meeting/stand-up"},
	{http.MethodPatch, "meeting/nobody"},
	{http.MethodGet, "meeting/stand-up/participants"}, {http.MethodGet, "meeting/stand-up/participants?limit=1"},
	{http.MethodGet, "meeting/stand-up/participants?limit=0"},
	{http.MethodGet, "meeting/stand-up/participants?limit=1001"}, {http.MethodGet, "meeting/stand-up/participants?limit=x"},
	{http.MethodGet, "meeting/stand-up/participants?limit="},
	{http.MethodGet, "meeting/stand-up/participants?limit=2&after=1772357400000.ann-1"}, {http.MethodGet, "meeting/stand-up/participants?after=ann"},
	{http.MethodGet, "meeting/stand-up/participants?after=1."},
	{http.MethodGet, "meeting/nobody/participants"}, {http.MethodOptions, "meeting/stand-up/participants"},
	{http.MethodPatch, "meeting/stand-up/participants/a%20b"}, {http.MethodDelete, "meeting/stand-up/participants/user:"},
	{http.MethodDelete, "meeting/stand-up/participants/user:ann"},
	{http.MethodGet, "meeting/stand-up/participants/ann-1"}, {http.MethodOptions, "meeting/stand-up/participants/ann-1"},
	{http.MethodGet, "meeting/stand-up/announcements"},
	{http.MethodOptions, "docs"}, {http.MethodPost, "docs"}, {http.MethodGet, "docs/nothing"}, {http.MethodGet, "nothing"}, {http.MethodGet, ""},
}

// TestGolden compares answers byte by byte, and the commands behind them.
func TestGolden(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1) // Hashes of passwords are in what is signed.
	record := golden.NewRecord()
	a := newAPI(Options{})
	for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
		for _, in := range []goldenWorld{{"", testTenant(variant, withControl)}, {" with users", testTenant(variant, withControl, withUsers)}} {
			for _, r := range goldenBodies {
				if in.tenant.Users != nil && r.path != "join" && r.path != "token" {
					continue
				}
				for _, body := range golden.Bodies(r.Shape) {
					record.Add(r.method+" "+r.path, string(variant)+in.name, body.Name, goldenAnswer(t, *a, in.tenant, r.method, r.path, body))
				}
			}
		}
		for _, in := range []goldenWorld{
			{"", testTenant(variant)}, {" by room, with control", testTenant(variant, withControl, func(t *tenant.Tenant) { t.Compat.MeetingsByRoom = true })},
			{" without names", testTenant(variant, withControl, func(t *tenant.Tenant) { t.NamesHidden = true })},
			{" off", testTenant(variant, off("stats", "meetings", "meeting", "meetingEnd", "join", "token", "docs"))},
		} {
			for _, r := range goldenGets {
				record.Add(r.method+" "+r.path, string(variant)+in.name, "no body", goldenAnswer(t, *a, in.tenant, r.method, r.path, golden.Body{}))
			}
		}
	}
	record.Compare(t, filepath.Join("testdata", "answers.golden"))
}

type goldenWorld struct {
	name   string
	tenant *tenant.Tenant
}

// goldenAnswer is the answer to one request, in a world of its own with the same clock, keys and random numbers.
func goldenAnswer(t *testing.T, a api, one *tenant.Tenant, method, path string, body golden.Body) (said string) {
	t.Run(method, func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, 1)
		w := newWorld(t, one)
		w.meetings.live = goldenMeetings()
		w.meetings.totals = meeting.Totals{Rooms: 2, Users: 3}
		w.moderator.people, w.moderator.waiting = goldenPeople()
		locked, most := true, int32(7)
		w.moderator.spec = v1alpha1.MeetingSpec{
			Redirect: "https://example.com/old", Duration: "2h", Locked: &locked, MaxParticipants: &most, Admission: v1alpha1.AdmissionAsk,
			Policy: &v1alpha1.MeetingPolicy{Camera: v1alpha1.Presenters},
		}
		target := "/video/api/v1/" + path
		if body.Query != "" {
			target += "?" + body.Query
		}
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body.Text))
		r.Host = host
		r.Header = http.Header{"Authorization": {rightKey}, "Content-Type": {"application/json"}}
		for name, values := range body.Header {
			r.Header[name] = values
		}
		answer := httptest.NewRecorder()
		a.meetings, a.moderator, a.clusterTime = w.meetings, w.moderator, w.now
		httpserver.NewRouter(w.router, a.surface()).ServeHTTP(answer, r)
		said = saidOf(t, answer, w)
	})
	return said
}

// saidOf is an answer, and what was asked of what is behind the API.
func saidOf(t *testing.T, answer *httptest.ResponseRecorder, w *world) string {
	said := golden.Answer(answer)
	for _, command := range w.meetings.took() {
		said += fmt.Sprintf(" %T", command) + golden.JSON(t, command)
	}
	if len(w.moderator.did) > 0 {
		said += fmt.Sprint(" ", w.moderator.did) + golden.JSON(t, w.moderator.spec)
	}
	return said
}

// goldenMeetings are two that are live: one with everything, and one with nothing.
func goldenMeetings() []meeting.View {
	return []meeting.View{{
		UID: "uid-stand-up", Lineage: "lineage-stand-up", Room: "stand-up", URL: baseURL + "/join/stand-up", Created: start, Started: start.Add(time.Minute),
		Expires: start.Add(time.Hour), Length: meeting.Length(time.Hour), MaxParticipants: 300, Redirect: "https://example.com/bye", HasPassword: true,
		Peers: []v1alpha1.Participant{
			{Identity: "ann-1", Name: "Ann", Presenter: true, Video: true, Audio: true, OS: "Linux", Browser: "Firefox 140"},
			{Identity: "bob-1", Name: "Bob \"<&>\" \xff \u2028", Screen: true, Hand: true},
			{Identity: "eve-1", Name: "Eve", Hidden: true},
		},
		Control: meeting.Control{Locked: true, Admission: v1alpha1.AdmissionWithPresenter, PresentersOnly: engine.Screen},
	}, {
		UID: "uid-plenary", Lineage: "lineage-plenary", Room: "Plenary ü/\u2028", URL: baseURL + "/join/plenary", Created: start.Add(time.Second),
	}}
}

// goldenPeople returns participants of a media server.
func goldenPeople() (people, waiting []engine.Participant) {
	ann := engine.Participant{Identity: "ann-1", Name: "Ann", JoinedAt: start, Audio: true}
	ann.Presenter, ann.Granted, ann.Username, ann.OS, ann.Browser = true, true, "ann", "Linux", "Firefox 140"
	eve := engine.Participant{Identity: "eve-1", Name: "Eve", JoinedAt: start.Add(time.Second)}
	eve.Hidden = true
	wim := engine.Participant{Identity: "wim-1", Name: "Wim"}
	wim.Since, wim.Message = start.Add(time.Minute), "May I?"
	return slices.Clone([]engine.Participant{ann, eve}), []engine.Participant{wim}
}
