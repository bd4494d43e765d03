// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-logr/logr"
	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"golang.org/x/crypto/bcrypt"
	"google.golang.org/protobuf/encoding/protojson"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/faultyengine"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// builtPage is as small as a built page can be.
var builtPage = fstest.MapFS{
	"index.html": {Data: []byte(
		`<!doctype html><base href="/__BASE__/"><title>__BRAND__</title>` +
			`<meta property="og:site_name" content="__BRAND__"><meta property="og:title" content="__BRAND__">` +
			`<script type="application/json" id="convene">__BOOT__</script><div id="root"></div>`)},
	"assets/main-abc123.js":    {Data: []byte("plain script")},
	"assets/main-abc123.js.br": {Data: []byte("brotli")},
	"assets/main-abc123.js.gz": {Data: []byte("gzip")},
	"assets/icon-def456.svg":   {Data: []byte("<svg/>")},
	"js/embed.js":              {Data: []byte("module")},
	"js/iframe.js":             {Data: []byte("script")},
	"js/widget.js":             {Data: []byte("widget")},
}

// site is a handler with one tenant, whose meetings and engine are in memory.
type site struct {
	*handler
	router   *httpserver.Router
	tenant   *tenant.Tenant
	meetings *fakeMeetings
	engine   *fakeEngine
	now      time.Time
	hints    []engine.RoomName
	// log is of refusals and changes; the zero Logger discards.
	log     logr.Logger
	proxies clientip.Proxies
}

type fakeTenants []*tenant.Tenant

func (f fakeTenants) All() []*tenant.Tenant { return f }

func (f fakeTenants) ForHost(host string) (t *tenant.Tenant, denied bool) {
	for _, t := range f {
		if slices.Contains(t.Hosts, host) {
			return t, false
		}
	}
	return nil, false
}

const (
	host      = "meet.example.com"
	password  = "correct horse"
	configUID = "11111111-aaaa"
)

// newSite makes a site whose tenant may be changed before anybody comes.
func newSite(t testing.TB, change ...func(*tenant.Tenant)) *site {
	t.Helper()
	s := &site{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	s.meetings = newFakeMeetings(s)
	s.engine = newFakeEngine(engineServer)
	signer, problems := credential.NewSigner("convene/ns/default", map[string][]byte{"1": []byte(strings.Repeat("k", 64))})
	if signer == nil {
		t.Fatal(problems)
	}
	s.tenant = &tenant.Tenant{
		NamespacedName: types.NamespacedName{Namespace: "ns", Name: "default"},
		UID:            configUID,
		BaseURL:        "https://" + host,
		Hosts:          []string{host},
		Signer:         signer,
		Presenters:     map[string]bool{"paula": true},
		Settings:       meeting.DefaultSettings(),
		Web:            tenant.Web{WebSpec: v1alpha1.WebSpec{HomeURL: "https://home.example.com/"}, Brand: v1alpha1.BrandSpec{Name: "Convene"}},
		Media: []*tenant.Media{{
			Server: engineServer, Engine: s.engine,
		}},
	}
	for _, c := range change {
		c(s.tenant)
	}
	s.handler = mustHandler(t, s, Options{Tenants: fakeTenants{s.tenant}})
	s.router = s.route(s.handler)
	return s
}

func mustHandler(t testing.TB, s *site, o Options) *handler {
	t.Helper()
	o.Meetings = s.meetings
	if o.ClusterTime == nil {
		o.ClusterTime = func() time.Time { return s.now }
	}
	if o.Hint == nil {
		o.Hint = func(room engine.RoomName) { s.hints = append(s.hints, room) }
	}
	h, err := newHandler(o, builtPage)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// route makes what a manager serves of a handler.
func (s *site) route(h *handler) *httpserver.Router {
	return httpserver.NewRouter(httpserver.RouterOptions{
		Tenants: h.Tenants.(fakeTenants), Now: func() time.Time { return s.now }, Log: s.log, TrustedProxies: s.proxies,
	}, h.pages(), h.webhooks())
}

// withUsers gives the tenant the users paula and bob, whose passwords are their names.
func withUsers(t *tenant.Tenant) { t.Users = users("paula", "bob") }

func protected(t *tenant.Tenant) { t.Protected = true }

func users(names ...string) *credential.Users {
	var lines strings.Builder
	for _, name := range names {
		hash, err := bcrypt.GenerateFromPassword([]byte(name), bcrypt.MinCost)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&lines, "%s:%s\n", name, hash)
	}
	u, problems := credential.ParseUsers([]byte(lines.String()))
	if len(problems) > 0 {
		panic(problems[0])
	}
	return u
}

// object is a JSON object.
type object map[string]any

// with returns a copy with more fields.
func (b object) with(more object) object {
	out := object{}
	for k, v := range b {
		out[k] = v
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// answer is what came back.
type answer struct {
	*httptest.ResponseRecorder
	t testing.TB
}

// into decodes the answer's body.
func (a answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.Body.Bytes(), v); err != nil {
		a.t.Fatalf("status %d, not JSON: %v\n%s", a.Code, err, a.Body)
	}
}

func (a answer) session() sessionAnswer {
	a.t.Helper()
	if a.Code != http.StatusOK {
		a.t.Fatalf("status %d: %s", a.Code, a.Body)
	}
	var s sessionAnswer
	a.into(&s)
	return s
}

func (a answer) refusal() errorBody {
	a.t.Helper()
	var e errorBody
	a.into(&e)
	return e
}

// call makes a request as the page does.
func (s *site) call(t testing.TB, method, path, session string, b any) answer {
	t.Helper()
	text := ""
	switch b := b.(type) {
	case nil:
	case string:
		text = b
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		text = string(raw)
	}
	r := newRequest(method, path, text)
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	return s.do(t, r)
}

// newRequest is what the page's own script sends.
func newRequest(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, "https://"+host+path, strings.NewReader(body))
	r.Header.Set("Origin", "https://"+host)
	return r
}

func (s *site) do(t testing.TB, r *http.Request) answer {
	t.Helper()
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	return answer{w, t}
}

func (s *site) enterWith(t testing.TB, b object) answer {
	t.Helper()
	return s.call(t, http.MethodPost, "/session", "", b)
}

// ticket makes one for the room's meeting.
func (s *site) ticket(t testing.TB, change func(*credential.Ticket)) string {
	t.Helper()
	ticket := credential.Ticket{Room: "room", Lineage: "lineage-1", JoinOptions: meeting.JoinOptions{Name: "Tina", Chat: true}}
	if v := s.meetings.byRoom[ticket.Room]; v != nil {
		ticket.PasswordMark = markOf(s.meetings.passwords[v.UID])
	}
	if change != nil {
		change(&ticket)
	}
	signed, err := s.tenant.Signer.IssueTicket(ticket, s.tenant.Users, time.Hour, s.now)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func (s *site) token(t testing.TB, username string, presenter bool) string {
	t.Helper()
	signed, err := s.tenant.Signer.IssueToken(credential.TokenRequest{
		Username: username, Presenter: presenter, Lifetime: time.Hour, Users: s.tenant.Users,
	}, s.now)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// fakeMeetings keeps meetings in memory: by room the live one, by UID all.
type fakeMeetings struct {
	site      *site
	mu        sync.Mutex
	byRoom    map[string]*meeting.View
	byUID     map[string]*meeting.View
	passwords map[string]string
	calls     []string
	// opened is what Open was asked for.
	opened []meeting.Opening
	// unknown are the UIDs of those that have to be looked for.
	unknown map[string]bool
	// err is of all that is asked, markErr of MarkOpened alone, openErr of Open, knownErr of a look for what is unknown.
	err, markErr, openErr, knownErr error
}

// change alters a meeting that requests may be looking at.
func (f *fakeMeetings) change(v *meeting.View, how func(*meeting.View)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(v)
}

func newFakeMeetings(s *site) *fakeMeetings {
	return &fakeMeetings{
		site: s, byRoom: map[string]*meeting.View{}, byUID: map[string]*meeting.View{}, passwords: map[string]string{}, unknown: map[string]bool{},
	}
}

// open makes a live meeting.
func (f *fakeMeetings) open(room string, change func(*meeting.View)) *meeting.View {
	n := len(f.byUID) + 1
	uid := fmt.Sprintf("uid-%d", n)
	v := &meeting.View{
		UID: uid, Lineage: fmt.Sprintf("lineage-%d", n), Room: room, URL: "https://" + host + "/join/" + room,
		Length: meeting.Length(time.Hour), Created: f.site.now, Expires: f.site.now.Add(time.Hour), MaxParticipants: 10,
		EngineRoom: meeting.EngineRoom(configUID, uid),
	}
	if change != nil {
		change(v)
	}
	f.byRoom[room], f.byUID[uid] = v, v
	return v
}

func (f *fakeMeetings) Enter(_ context.Context, _ *tenant.Tenant, room, lineage string) (meeting.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "enter")
	if f.err != nil {
		return meeting.View{}, f.err
	}
	v := f.byRoom[room]
	switch {
	case v == nil && lineage != "":
		return meeting.View{Ended: true}, fault.Gone("It has ended")
	case v == nil:
		return meeting.View{}, fault.NotFound("There is no such meeting")
	case v.Ended:
		return *v, fault.Gone("It has ended")
	case lineage != "" && lineage != v.Lineage:
		return meeting.View{Ended: true}, fault.Gone("It has ended")
	}
	return *v, nil
}

// Preview shows what Enter does, also where the room has no meeting and may be opened.
func (f *fakeMeetings) Preview(ctx context.Context, t *tenant.Tenant, room, lineage string, opens bool) (meeting.View, error) {
	v, err := f.Enter(ctx, t, room, lineage)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[len(f.calls)-1] = "preview"
	if opens && fault.Is(err, fault.KindNotFound) {
		return meeting.View{Room: room}, nil
	}
	return v, err
}

// Open makes a meeting as package conference does where nothing is known of the room.
func (f *fakeMeetings) Open(_ context.Context, t *tenant.Tenant, o meeting.Opening) (meeting.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "open by "+o.By)
	f.opened = append(f.opened, o)
	if f.openErr != nil {
		return meeting.View{}, f.openErr
	}
	if v := f.byRoom[o.Room]; v != nil {
		return *v, nil
	}
	if err := o.Allow(); err != nil {
		return meeting.View{}, err
	}
	length, err := t.Settings.Length(o.Duration)
	if err != nil {
		return meeting.View{}, err
	}
	return *f.open(o.Room, func(v *meeting.View) { v.Length, v.Expires = length, length.After(v.Created) }), nil
}

func (f *fakeMeetings) MarkOpened(_ context.Context, _ *tenant.Tenant, v meeting.View, leader engine.Identity, username string) (meeting.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "mark opened")
	now, err := f.live(v.UID)
	if err = cmp.Or(f.markErr, f.err, err); err != nil {
		return v, err
	}
	if !now.Opened {
		m := &v1alpha1.Meeting{Spec: v1alpha1.MeetingSpec{Participants: now.Decisions}}
		for _, o := range f.opened {
			if o.Room == now.Room {
				m.Labels = map[string]string{v1alpha1.LabelAdHoc: o.By}
			}
		}
		meeting.Lead(m, leader, username)
		now.Decisions = m.Spec.Participants
	}
	now.Opened = true
	return *now, nil
}

func (f *fakeMeetings) PasswordMark(_ context.Context, _ *tenant.Tenant, v meeting.View) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "password mark")
	return markOf(f.passwords[v.UID]), f.err
}

// markOf is empty for no password.
func markOf(password string) string {
	if password == "" {
		return ""
	}
	return "mark of " + password
}

func (f *fakeMeetings) CheckPassword(_ context.Context, _ *tenant.Tenant, v meeting.View, _ netip.Prefix, presented string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "check password")
	return f.passwords[v.UID] == presented, f.err
}

// Known looks at all there are where it is told a room.
func (f *fakeMeetings) Known(_ context.Context, _ *tenant.Tenant, uid, room string) (meeting.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch v := f.byUID[uid]; {
	case v != nil && !f.unknown[uid]:
		return *v, nil
	case room == "":
		return meeting.View{}, errUnknown
	case f.knownErr != nil:
		return meeting.View{}, f.knownErr
	case v != nil:
		f.unknown[uid] = false
		return *v, nil
	}
	return meeting.View{UID: uid, Room: room, Ended: true}, nil
}

// live is the meeting with a UID, which has not ended. The caller holds the lock.
func (f *fakeMeetings) live(uid string) (*meeting.View, error) {
	switch v := f.byUID[uid]; {
	case v == nil || f.unknown[uid]:
		return nil, errUnknown
	case v.Ended:
		return nil, fault.Gone("It has ended")
	default:
		return v, nil
	}
}

var errUnknown = fault.Unavailable("It is not known here yet")

func (f *fakeMeetings) Change(_ context.Context, t *tenant.Tenant, uid string, change func(*v1alpha1.MeetingSpec) error) (meeting.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "change")
	v, err := f.live(uid)
	if err = cmp.Or(f.err, err); err != nil {
		return meeting.View{}, err
	}
	spec := v1alpha1.MeetingSpec{
		Participants: slices.Clone(v.Decisions), Locked: &v.Locked, Policy: meeting.PolicyOf(v.PresentersOnly),
		Admission: v.Admission, AdmittedUntil: &metav1.Time{Time: v.AdmittedUntil},
	}
	was := spec.DeepCopy()
	if err := change(&spec); err != nil {
		return meeting.View{}, err
	}
	if err := t.Settings.ValidateChange(was, &spec); err != nil {
		return meeting.View{}, err
	}
	v.Control = meeting.ControlOf(t.Settings, &spec)
	return *v, nil
}

func (f *fakeMeetings) End(_ context.Context, t *tenant.Tenant, c conference.EndCommand) (conference.EndResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := c.Validate(t.Settings); err != nil {
		return conference.EndResult{}, err
	}
	f.calls = append(f.calls, "end")
	v := f.byRoom[c.Room]
	switch {
	case f.err != nil:
		return conference.EndResult{}, f.err
	case v == nil || v.Ended:
		return conference.EndResult{}, fault.NotFound("There is no such meeting")
	case c.UID != "" && c.UID != v.UID:
		return conference.EndResult{}, fault.Gone("It has ended")
	}
	v.Ended = true
	if c.Redirect != nil {
		v.Redirect = *c.Redirect
	}
	return conference.EndResult{Ended: true}, nil
}

// engineServer is where the media server of a site is, and how it knows the site.
var engineServer = engine.Server{URL: "http://livekit:7880", Key: "key", Secret: "engine secret"}

// fakeEngine keeps what it was asked, and fails when told to. Nothing but its rooms is made up: its tokens are LiveKit's.
type fakeEngine struct {
	engine.Engine
	people  []engine.Participant
	ensured []engine.RoomState
	options []engine.RoomOptions
	grants  []engine.Grant
	acts    []engine.Action
	limited []engine.Rights
	// ghosts are listed and not there.
	ghosts []engine.Identity
	// waiting are those in waiting rooms, and doorActs what was done there.
	waiting  []engine.Participant
	doorActs []engine.Action
	// asked and doorAsked count how often the people in meetings and in waiting rooms were asked for.
	asked, doorAsked int
	// err is of all calls, listErr of lists alone.
	err, listErr error
	mu           sync.Mutex
	// onAct runs before an act.
	onAct func()
}

// newFakeEngine makes one whose tokens are signed as a server asks for.
func newFakeEngine(server engine.Server) *fakeEngine {
	tokens, err := livekit.New("ns", server)
	if err != nil {
		panic(err)
	}
	return &fakeEngine{Engine: tokens}
}

func (f *fakeEngine) Participants(_ context.Context, room engine.RoomName) ([]engine.Participant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := cmp.Or(f.listErr, f.err)
	if meeting.IsWaitingRoom(room) {
		f.doorAsked++
		return f.waiting, err
	}
	f.asked++
	return f.people, err
}

func (f *fakeEngine) Ensure(_ context.Context, _ engine.RoomName, o engine.RoomOptions, s engine.RoomState) error {
	f.ensured, f.options = append(f.ensured, s), append(f.options, o)
	return f.err
}

func (f *fakeEngine) Drop(context.Context, engine.RoomName) error { return f.err }

func (f *fakeEngine) Present(_ context.Context, room engine.RoomName, who engine.Identity) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	people := f.people
	if meeting.IsWaitingRoom(room) {
		people = f.waiting
	}
	listed := slices.ContainsFunc(people, func(p engine.Participant) bool { return p.Identity == who })
	return listed && !slices.Contains(f.ghosts, who), f.err
}

func (f *fakeEngine) Act(_ context.Context, room engine.RoomName, a engine.Action) error {
	if f.onAct != nil {
		f.onAct()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	people, acts := &f.people, &f.acts
	if meeting.IsWaitingRoom(room) {
		people, acts = &f.waiting, &f.doorActs
	}
	*acts = append(*acts, a)
	if f.err != nil {
		return f.err
	}
	var err error
	*people, err = faultyengine.Act(*people, a)
	return err
}

func (f *fakeEngine) Grant(g engine.Grant) (string, error) {
	f.grants = append(f.grants, g)
	return f.Engine.Grant(g)
}

func (f *fakeEngine) Limit(token string, rights engine.Rights) (string, error) {
	f.limited = append(f.limited, rights)
	return f.Engine.Limit(token, rights)
}

// accessTo is a token with which a participant enters a room. No site has granted it.
func accessTo(t testing.TB, room engine.RoomName, who engine.Identity) string {
	t.Helper()
	token, err := newFakeEngine(engineServer).Grant(engine.Grant{Room: room, Identity: who, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// webhook is what the media server sends about a room, signed as a server does.
func webhook(t testing.TB, server engine.Server, room engine.RoomName) *http.Request {
	t.Helper()
	event, err := protojson.Marshal(&lk.WebhookEvent{Event: "room_started", Room: &lk.Room{Name: string(room)}})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(event)
	signed, err := auth.NewAccessToken(server.Key, server.Secret).SetSha256(base64.StdEncoding.EncodeToString(sum[:])).ToJWT()
	if err != nil {
		t.Fatal(err)
	}
	r := newRequest(http.MethodPost, WebhookPaths[0], string(event))
	r.Header.Set("Authorization", signed)
	return r
}

// join lists a participant as in the room, with what the last access token says that the engine granted them.
func (f *fakeEngine) join(who engine.Identity) {
	p := engine.Participant{Identity: who}
	for _, g := range f.grants {
		if g.Identity == who {
			p.Name, p.Traits, p.Forbidden = g.Name, g.Traits, g.Forbidden&engine.Media
		}
	}
	f.people = append(f.people, p)
}
