// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// refusals are two managers of which the one that carries out commands does not lead, and reaches the API server through a proxy: what
// comes that way for a room is a call of the command.
type refusals struct {
	*world
	replica *testkit.ManagerProcess
	ways    []failure
	atOnce  *semaphore.Weighted
	tried   atomic.Int32

	mu     sync.Mutex
	trials map[string]*trial
	rooms  int
}

func newRefusals(t *testing.T, atOnce int64) *refusals {
	t.Helper()
	cluster := testkit.ControlPlane(t)
	w, where := prepareWorld(t, cluster, controlled, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocAnyone}
	})
	o := testkit.ManagerOptions{
		Addresses: where.Addresses, DefaultConfig: where.DefaultConfig, Args: []string{"--leader-elect", "--leader-election-namespace", w.Namespace},
	}
	leader := testkit.Manager(t, cluster, o)
	proxy, kubeconfig := cluster.APIServerProxy(t)
	o.Addresses, o.Kubeconfig = nil, kubeconfig
	r := &refusals{world: w, replica: testkit.Manager(t, cluster, o), atOnce: semaphore.NewWeighted(atOnce), trials: map[string]*trial{}}
	w.start(t, []*testkit.ManagerProcess{leader, r.replica})
	r.ways = waysToFail(testkit.Say(cluster.QuotaFull(t), nil), testkit.Say(cluster.WebhookDown(t), nil))
	proxy.Place(r.choose)
	return r
}

// failure is a way in which a call of a command fails.
type failure struct {
	name string
	// of says of which calls.
	of func(call string) bool
	// fails makes the fault; giveUp has the sender of the command give it up.
	fails func(giveUp func()) testkit.Fault
}

func waysToFail(quotaFull, webhookDown testkit.Fault) []failure {
	every := func(string) bool { return true }
	creates := func(call string) bool { return strings.HasPrefix(call, http.MethodPost) }
	writes := func(call string) bool { return !strings.HasPrefix(call, http.MethodGet) }
	always := func(f testkit.Fault) func(func()) testkit.Fault { return func(func()) testkit.Fault { return f } }
	givenUp := func(then testkit.Fault) func(func()) testkit.Fault {
		return func(giveUp func()) testkit.Fault {
			return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
				giveUp()
				select {
				case <-r.Context().Done():
				case <-time.After(100 * time.Millisecond): // The call does not end with the command.
				}
				then(w, r, pass)
			}
		}
	}
	timeout := testkit.Refuse(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, nil)
	return []failure{
		{"a quota that is full", creates, always(quotaFull)},
		{"a webhook that is down", writes, always(webhookDown)},
		{"409", writes, always(testkit.Refuse(http.StatusConflict, metav1.StatusReasonConflict, nil))},
		{"429", every, always(testkit.Refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, http.Header{"Retry-After": {"1"}}))},
		{"500", every, always(testkit.Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, nil))},
		{"503", every, always(testkit.Refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, nil))},
		{"504, done", every, always(func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			testkit.Do(r, pass)
			timeout(w, r, pass)
		})},
		{"reset", every, always(testkit.Reset)},
		{"reset, done", every, always(testkit.LoseAnswer(func() {}))},
		{"no answer", every, always(testkit.Hang)},
		{"no answer, done", every, always(testkit.LoseAnswerSilently)},
		{"given up", every, givenUp(testkit.Reset)},
		{"given up, done", every, givenUp(func(w http.ResponseWriter, r *http.Request, pass http.Handler) { pass.ServeHTTP(w, r) })},
	}
}

// roomInCall finds the room of a trial in a call of the API server.
var roomInCall = regexp.MustCompile(`trial-\d{5}`)

// choose says what is done to a call.
func (r *refusals) choose(q *http.Request) testkit.Fault {
	if q.URL.Query().Get("watch") != "" {
		return nil
	}
	room := roomInCall.FindString(q.URL.String())
	if room == "" && q.Body != nil && q.Method != http.MethodGet {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return testkit.Reset
		}
		q.Body, room = io.NopCloser(bytes.NewReader(body)), string(roomInCall.Find(body))
	}
	r.mu.Lock()
	trial := r.trials[room]
	r.mu.Unlock()
	if trial == nil {
		return nil
	}
	return trial.called(q)
}

// refusal is what is refused to a command: the call of that number fails, and all after it too if it lasts. The zero refusal is none.
type refusal struct {
	way    failure
	number int
	lasts  bool
}

// trial is a command in a room of its own.
type trial struct {
	*refusals
	t    testing.TB
	a    account
	room string
	// from is the address from which the command is sent: what one address may do is limited.
	from net.Addr
	// lineage and link are of the meeting that the room had before; both are empty for a room that had none.
	lineage, link string
	// ada presents, bob is in, and carol waits, if the command needs people.
	ada, bob, carol entry

	mu      sync.Mutex
	refusal refusal
	sent    bool
	giveUp  context.CancelFunc
	calls   []string
}

// called is told of a call of the command.
func (s *trial) called(q *http.Request) testkit.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sent {
		return nil
	}
	call := q.Method + " " + resourceOf(q.URL.Path)
	s.calls = append(s.calls, call)
	f := s.refusal
	if n := len(s.calls); f.number == 0 || n != f.number && (n < f.number || !f.lasts) || !f.way.of(call) {
		return nil
	}
	return f.way.fails(s.giveUp)
}

// resourceOf is the resource of a path of the API server in a namespace.
func resourceOf(path string) string {
	_, after, _ := strings.Cut(path, "/namespaces/")
	if parts := strings.Split(after, "/"); len(parts) > 1 {
		return parts[1]
	}
	return path
}

// command is a request about a room.
type command struct {
	name string
	// in is what there is of the room before.
	in roomBefore
	// variantB says that tenant B is asked.
	variantB bool
	request  func(*trial) request
}

// request is what a backend or a page sends.
type request struct {
	method, path string
	// session is of the page that sends, or empty for a backend and for one who enters.
	session string
	body    map[string]any
}

// roomBefore is what there is of a room before a command.
type roomBefore int

const (
	// freshRoom is a room that never had a meeting.
	freshRoom roomBefore = iota
	// bareRoom is a room whose meeting was asked for nothing, and nobody has entered.
	bareRoom
	// liveRoom is a room with a password, a redirect, a policy and a removal.
	liveRoom
	// usedRoom is a room of which such a meeting, with a lock, has ended by itself.
	usedRoom
	// occupiedRoom is a live room in which people are, and somebody waits to be let in.
	occupiedRoom
)

// begin makes a room as a command finds it.
func (r *refusals) begin(t testing.TB, c command, f refusal) *trial {
	t.Helper()
	r.mu.Lock()
	r.rooms++
	s := &trial{refusals: r, t: t, a: r.a.on(t), room: fmt.Sprintf("trial-%05d", r.rooms), refusal: f}
	s.from = &net.TCPAddr{IP: net.IPv4(127, 1, byte(r.rooms>>8), byte(r.rooms))}
	r.trials[s.room] = s
	r.mu.Unlock()
	if c.variantB {
		s.a = r.b.on(t)
	}
	t.Cleanup(s.clear)
	if c.in == freshRoom {
		return s
	}
	made := map[string]any{"room": s.room}
	if c.in != bareRoom {
		made["roomPassword"], made["redirect"] = "sesame", "https://example.com/after"
	}
	s.a.insist(http.StatusOK, http.MethodPost, "/api/v1/meeting", made)
	m := r.meetingsOf(t, s.room)[0]
	s.lineage = meeting.Lineage(&m)
	if c.in == bareRoom {
		return s
	}
	s.link = s.a.ticket(map[string]any{"room": s.room, "name": "Ada", "roomPassword": "sesame", "token": s.a.presenterToken("ada")})
	r.patch(t, &m, `{"spec":{"policy":{"camera":"Presenters"},"participants":[{"identity":"user:eve","removed":true}]}}`)
	switch c.in {
	case usedRoom:
		r.patch(t, &m, `{"spec":{"locked":true}}`)
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"status":{"phase":"Ended","endReason":"Empty","endTime":%q}}`, time.Now().UTC().Format(time.RFC3339)))
		if err := r.Client.Status().Patch(t.Context(), &m, patch); err != nil {
			t.Fatal(err)
		}
	case occupiedRoom:
		s.occupy(t, &m)
	}
	// The replica knows the room as it is.
	request := s.newRequest(t.Context(), http.MethodGet, "/api/v1/meeting/"+s.room, s.a.key, nil)
	s.eventually(t, func() error {
		if got := s.a.do(request.Clone(t.Context())); got.status != map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[c.in == usedRoom] {
			return fmt.Errorf("the replica says %d %s", got.status, got.raw)
		}
		return nil
	})
	return s
}

// occupy has Ada and Bob come in, and Carol wait.
func (s *trial) occupy(t testing.TB, m *v1alpha1.Meeting) {
	t.Helper()
	guest := func(name string) map[string]any {
		return map[string]any{"room": s.room, "name": name, "password": "sesame"}
	}
	s.ada = s.a.mustEnter(map[string]any{"ticket": s.link})
	s.bob = s.a.mustEnter(guest("Bob"))
	s.ada.connect(t)
	s.bob.connect(t)
	s.patch(t, m, `{"spec":{"admission":"Ask"}}`)
	testkit.Eventually(t, patience, func() error {
		status, e := s.a.session(guest("Carol"))
		if s.carol = e; status != http.StatusAccepted {
			return fmt.Errorf("Carol is answered %d %s", status, e.Error)
		}
		return nil
	})
	s.carol.connect(t)
}

func (w *world) patch(t testing.TB, o client.Object, text string) {
	t.Helper()
	if err := w.Client.Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

// clear takes the room away.
func (s *trial) clear() {
	s.refusals.mu.Lock()
	delete(s.trials, s.room)
	s.refusals.mu.Unlock()
	for _, m := range s.meetingsOf(s.t, s.room) {
		_ = s.Client.Delete(context.Background(), &m)
	}
}

// newRequest is a request that the replica gets.
func (s *trial) newRequest(ctx context.Context, method, path, authorization string, body map[string]any) *http.Request {
	encoded, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	if body == nil {
		encoded = nil
	}
	q, err := http.NewRequestWithContext(ctx, method, s.replica.URL+path, bytes.NewReader(encoded))
	if err != nil {
		s.t.Fatal(err)
	}
	q.Host = strings.TrimPrefix(s.a.baseURL, "http://")
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", authorization)
	return q
}

// send sends the command once, and returns its status, 0 if it was given up.
func (s *trial) send(c command, refused bool) (status int, answer string) {
	s.t.Helper()
	ctx, giveUp := context.WithTimeout(s.t.Context(), patience)
	defer giveUp()
	r := c.request(s)
	authorization := s.a.key
	if r.session != "" {
		authorization = "Bearer " + r.session
	}
	q := s.newRequest(ctx, r.method, r.path, authorization, r.body)
	s.mu.Lock()
	s.sent, s.giveUp = refused, giveUp
	s.mu.Unlock()
	response, err := clientFrom(s.from).Do(q)
	if err != nil {
		if ctx.Err() == nil {
			s.t.Fatal(err)
		}
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil && ctx.Err() == nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.sent = false
	s.mu.Unlock()
	return response.StatusCode, string(raw)
}

// outcome is what can be seen of a room.
type outcome struct {
	// Meetings are live. Link is what the link of before is answered.
	Meetings int
	Link     string
	// Spec is of the live Meeting, with names in place of what is made up each time.
	Spec                  string
	Password, MadeByGuest string
	// Continues says that it is the meeting of before, or goes on from it.
	Continues bool
}

var madeUp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|trial-\d{5}`)

// look sees what there is of the room.
func (s *trial) look() (o outcome) {
	s.t.Helper()
	if s.link != "" {
		status, e := s.a.on(s.t).insistOnSession(map[string]any{"ticket": s.link})
		o.Link = fmt.Sprint(status, " ", e.Reason, " ", e.Redirect)
	}
	all := slices.DeleteFunc(s.meetingsOf(s.t, s.room), func(m v1alpha1.Meeting) bool { return meeting.IsLeaving(&m) || meeting.IsOver(&m) })
	if o.Meetings = len(all); len(all) != 1 {
		return o
	}
	m := all[0]
	o.Continues, o.MadeByGuest = meeting.Lineage(&m) == s.lineage, meeting.OpenedBy(&m)
	o.Password = s.passwordOf(&m)
	m.Spec.PasswordSecretRef = nil
	spec, err := json.Marshal(m.Spec)
	if err != nil {
		s.t.Fatal(err)
	}
	o.Spec = madeUp.ReplaceAllString(string(spec), "…")
	for name, e := range map[string]entry{"Ada": s.ada, "Bob": s.bob, "Carol": s.carol} {
		if e.You.Identity != "" {
			o.Spec = strings.ReplaceAll(o.Spec, e.You.Identity, name)
		}
	}
	return o
}

// passwordOf says which password opens a Meeting.
func (s *trial) passwordOf(m *v1alpha1.Meeting) string {
	ref := m.Spec.PasswordSecretRef
	if ref == nil {
		return "none"
	}
	var secret corev1.Secret
	if err := s.Client.Get(s.t.Context(), s.key(ref.Name), &secret); err != nil {
		return "lost"
	}
	if right, err := credential.CheckPassword(s.t.Context(), credential.Turn{}, string(secret.Data[ref.Key]), "sesame"); err != nil || !right {
		return "another"
	}
	return "sesame"
}

// usual is what a command does when nothing fails.
type usual struct {
	before, after outcome
	status        int
	calls         []string
}

// learn carries out a command of which nothing fails.
func (r *refusals) learn(t *testing.T, c command) (u usual) {
	t.Helper()
	u.before = r.begin(t, c, refusal{}).look()
	s := r.begin(t, c, refusal{})
	var answer string
	if u.status, answer = s.send(c, true); u.status >= http.StatusInternalServerError {
		t.Fatalf("%d %s", u.status, answer)
	}
	u.calls, u.after = slices.Clone(s.calls), s.look()
	return u
}

// try carries out a command of which a call fails, and looks at the room: it is as it was or as asked, whichever manager is asked. The command
// then does what it usually does. Again says that the room is looked at only after that.
func (r *refusals) try(t *testing.T, c command, u usual, f refusal, again bool) {
	t.Helper()
	if err := r.atOnce.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	defer r.atOnce.Release(1)
	r.tried.Add(1)
	s := r.begin(t, c, f)
	status, answer := s.send(c, true)
	s.mu.Lock()
	s.sent = false
	calls := slices.Clone(s.calls)
	s.mu.Unlock()
	defer func() {
		if t.Failed() {
			t.Logf("the command was answered %d %s after %q", status, answer, calls)
		}
	}()
	switch status {
	case u.status, 0, http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusInternalServerError:
	default:
		t.Errorf("an error is taken for an answer: %d %s", status, answer)
	}
	wanted := []outcome{u.before, u.after}
	if status == u.status {
		wanted = wanted[1:]
	}
	if !again {
		r.becomes(t, s, wanted...)
	}
	s.eventually(t, func() error {
		switch second, answer := s.send(c, false); {
		case second == u.status, u.after.Meetings == 0 && (second == http.StatusNotFound || second == http.StatusGone):
			return nil
		default:
			return fmt.Errorf("the command is answered %d %s", second, answer)
		}
	})
	wanted = []outcome{u.after}
	if c.in == usedRoom && !again {
		wanted = append(wanted, u.before) // The link has made the next meeting before the command.
	}
	r.becomes(t, s, wanted...)
}

// becomes waits until the room is one of those that are wanted.
func (r *refusals) becomes(t *testing.T, s *trial, wanted ...outcome) {
	t.Helper()
	var got outcome
	deadline := time.Now().Add(meeting.PasswordWithin + 10*time.Second)
	for {
		if got = s.look(); slices.Contains(wanted, got) {
			return
		}
		if time.Now().After(deadline) {
			break
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	for _, want := range wanted {
		t.Errorf("the room is neither as it was nor as asked (-want +got):\n%s", cmp.Diff(want, got))
	}
}
