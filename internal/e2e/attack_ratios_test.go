// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/mediaserver"
)

// cost is what a sender has spent of the manager, LiveKit and etcd.
type cost struct {
	// kB were sent.
	kB float64
	// MB is the most memory that the manager and LiveKit have held beyond what they had.
	MB float64
	// Milliseconds of processor time, kB of log and kB written to etcd, for each kB that was sent.
	milliseconds, log, etcd float64
}

// sender counts what it sends. Each of its connections comes from another address: limits by address are the subject of other tests.
type sender struct {
	*world
	t    *testing.T
	sent atomic.Int64
	// asked and refused are how many calls there were, and how many were answered with 429 or 503.
	asked, refused, addresses atomic.Int64
	http                      *http.Client
}

func (s *sender) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n := s.addresses.Add(1)
	from := &net.TCPAddr{IP: net.IPv4(127, 0, byte(3+n/250%100), byte(1+n%250))}
	conn, err := (&net.Dialer{LocalAddr: from}).DialContext(ctx, network, address)
	return countedConn{conn, s}, err
}

// Write counts.
func (s *sender) Write(data []byte) (int, error) {
	s.sent.Add(int64(len(data)))
	return len(data), nil
}

// countedConn counts what is written.
type countedConn struct {
	net.Conn
	count io.Writer
}

func (c countedConn) Write(data []byte) (int, error) {
	n, err := c.Conn.Write(data)
	_, _ = c.count.Write(data[:n])
	return n, err
}

// call sends a request and reads the answer to its end. What is answered is of no interest here.
func (s *sender) call(method, path, authorization, body string) {
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.a.baseURL+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	s.asked.Add(1)
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable {
		s.refused.Add(1)
	}
}

// attack is one way to spend. do is called again and again by eight at once: so many times, or for some seconds.
type attack struct {
	who, what string
	times     int
	begin     func(s *sender) (do func(n int))
	most      cost
}

// ratioAttacks are the most expensive ways that we know, by sender. Those that a rate bounds stay below it: what is refused costs less.
var ratioAttacks = []attack{
	{who: "nobody", what: "connections that are held", times: 1500, begin: holdConnections, most: cost{MB: 130, milliseconds: 0.1}},
	{who: "nobody", what: "pages", begin: func(s *sender) func(int) {
		return func(n int) { s.call("GET", fmt.Sprint("/join/room-", n), "", "") }
	}, most: cost{MB: 60, milliseconds: 1}},
	{who: "nobody", what: "calls with wrong keys", times: 100, begin: func(s *sender) func(int) {
		return func(n int) { s.call("POST", "/api/v1/join", fmt.Sprint("wrong-", n), `{"room":"x","name":"y"}`) }
	}, most: cost{MB: 30, milliseconds: 5, log: 3}},
	{who: "nobody", what: "webhooks that are not signed", begin: func(s *sender) func(int) {
		return func(n int) {
			s.call("POST", "/media-server/webhook", fmt.Sprint("forged-", n), `{"event":"room_finished"}`)
		}
	}, most: cost{MB: 60, milliseconds: 2}},
	{who: "guest", what: "passwords of a room", times: 30, begin: func(s *sender) func(int) {
		s.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "private", "roomPassword": "sesame"})
		return func(n int) {
			s.call("POST", "/session", "", fmt.Sprintf(`{"room":"private","name":"Eve","password":"%d"}`, n))
		}
	}, most: cost{MB: 250, milliseconds: 600, log: 5, etcd: 1}},
	{who: "guest", what: "sessions", times: 900, begin: func(s *sender) func(int) {
		s.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
		ticket := s.a.ticket(map[string]any{"room": "open", "name": "Eve"})
		return func(n int) {
			s.call("POST", "/session", "", fmt.Sprintf(`{"room":"open","name":"Eve %d","ticket":%q}`, n, ticket))
		}
	}, most: cost{MB: 100, milliseconds: 10, log: 2}},
	{who: "guest", what: "connections of signalling", times: 100, begin: connects, most: cost{MB: 200, milliseconds: 30, log: 2, etcd: 1}},
	{who: "guest", what: "signalling: subscriptions", times: 8, begin: signals(again(300, subscribe)), most: cost{MB: 150, milliseconds: 0.2}},
	{who: "guest", what: "signalling: session descriptions", times: 8, begin: signals(again(100, func(int) *lk.SignalRequest {
		return &lk.SignalRequest{Message: &lk.SignalRequest_Offer{Offer: &lk.SessionDescription{Type: "offer", Sdp: manySections}}}
	})), most: cost{MB: 200, milliseconds: 0.2}},
	{who: "guest", what: "messages to a room of ten", times: 20, begin: chats, most: cost{MB: 60, milliseconds: 20, log: 1, etcd: 1}},
	{who: "presenter", what: "acts", times: 30, begin: acts, most: cost{MB: 60, milliseconds: 50, log: 3, etcd: 30}},
	{who: "backend", what: "lists of 2,000 meetings", begin: lists, most: cost{MB: 100, milliseconds: 100, log: 1, etcd: 1}},
	{who: "backend", what: "meetings", begin: func(s *sender) func(int) {
		return func(n int) { s.call("POST", "/api/v1/meeting", s.a.key, fmt.Sprintf(`{"room":"made-%d"}`, n)) }
	}, most: cost{MB: 120, milliseconds: 20, log: 2, etcd: 40}},
	{who: "tenant", what: "Meetings with 200 kB of annotations", times: 300, begin: objects(200 << 10), most: cost{MB: 100, milliseconds: 0.5, etcd: 4}},
	{who: "tenant", what: "Meetings as short as they are", times: 2000, begin: objects(0), most: cost{MB: 60, milliseconds: 30, etcd: 40}},
	{who: "tenant's media server", what: "webhooks", begin: webhooks, most: cost{MB: 60, milliseconds: 2}},
	{who: "tenant's media server", what: "lists of 1,000 participants", times: 8, begin: answers, most: cost{MB: 150, milliseconds: 1, etcd: 1}},
}

// TestAttackRatios prints what the most expensive requests of each kind of sender cost: docs/security.md has the table.
func TestAttackRatios(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	// Nothing else writes to this control plane.
	w := newWorldWith(t, testkit.OwnControlPlane(t), chartsMemory, func(a, b *v1alpha1.ConferenceConfig) {
		controlled(a, b)
		a.Spec.API.RateLimit = nil
	})
	rows := []string{fmt.Sprintf("%-22s %-34s %9s %7s %12s %9s %10s", "who", "sends", "kB", "MB", "ms per kB", "log/kB", "etcd/kB")}
	for _, a := range ratioAttacks {
		t.Run(a.who+" "+a.what, func(t *testing.T) {
			got := w.spend(t, a)
			rows = append(rows, fmt.Sprintf("%-22s %-34s %9.0f %7.0f %12.2f %9.2f %10.2f", a.who, a.what, got.kB, got.MB, got.milliseconds, got.log, got.etcd))
			const nothing = 0.1 // Leases and what LiveKit writes by itself.
			if got.MB > a.most.MB || got.milliseconds > a.most.milliseconds || got.log > max(nothing, a.most.log) || got.etcd > max(nothing, a.most.etcd) {
				t.Errorf("it costs %+v, at most %+v is promised", got, a.most)
			}
		})
	}
	fmt.Println(strings.Join(rows, "\n"))
}

// spend has a manager that has just started attacked.
func (w *world) spend(t *testing.T, a attack) cost {
	const senders, lasts = 8, 5 * time.Second
	w.manager.Stop() // It gives up the Lease.
	w.manager.Start(t)
	w.a.t = t
	w.eventually(t, func() error { return ready(w.manager.HealthURL) })
	w.settle(t)
	s := &sender{world: w, t: t}
	s.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders, DialContext: s.dial, DisableKeepAlives: a.times > 0}}
	defer s.http.CloseIdleConnections()
	do := a.begin(s)
	memory := func() float64 { return heldMemory(t, w.manager.PID()) + heldMemory(t, w.livekit.PID()) }
	processor := func() time.Duration { return cpu(t, w.manager.PID()) + cpu(t, w.livekit.PID()) }
	logged := func() int64 { return int64(len(w.manager.Log())) + w.livekit.LogSize(t) }
	s.sent.Store(0)
	held, used, wrote, put, began := memory(), processor(), logged(), w.put(t), time.Now()
	var next atomic.Int64
	var all sync.WaitGroup
	done := make(chan struct{})
	for range senders {
		all.Go(func() {
			for n := int(next.Add(1)); t.Context().Err() == nil; n = int(next.Add(1)) {
				if a.times > 0 && n > a.times || a.times == 0 && time.Since(began) > lasts {
					return
				}
				do(n)
			}
		})
	}
	go func() { all.Wait(); close(done) }()
	most := held
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(50 * time.Millisecond):
		}
		most = max(most, memory())
		if whole := heldMemory(t, w.manager.PID()); whole > 512 { // MB, the chart's limit
			t.Errorf("the manager has %.0f MB", whole)
		}
	}
	kB := float64(s.sent.Load()) / 1000
	if asked, refused := s.asked.Load(), s.refused.Load(); refused > asked/20 {
		t.Errorf("of %d calls %d are refused: what is measured is a refusal", asked, refused)
	}
	w.settle(t)
	return cost{
		kB: kB, MB: most - held, milliseconds: (processor() - used).Seconds() * 1000 / kB,
		log: float64(logged()-wrote) / 1000 / kB, etcd: (w.put(t) - put) / 1000 / kB,
	}
}

// settle waits until the controllers have written what comes of an attack.
func (w *world) settle(t *testing.T) {
	t.Helper()
	const second, leases = 1000, 2_000 // milliseconds; bytes a second
	for quiet := 0; quiet < 3; {
		before := w.put(t)
		<-time.After(second * time.Millisecond)
		if quiet++; w.put(t)-before > leases {
			quiet = 0
		}
	}
}

// put is how many bytes etcd has been given to store.
func (w *world) put(t *testing.T) float64 {
	t.Helper()
	bytes := metricsAt(t, w.EtcdMetrics()+"/metrics")["etcd_debugging_mvcc_total_put_size_in_bytes"]
	if bytes == nil {
		t.Fatal("etcd does not count its bytes by this name any more")
	}
	return value(bytes, nil)
}

// holdConnections sends all of a request but its last byte.
func holdConnections(s *sender) func(int) {
	host := strings.TrimPrefix(s.a.baseURL, "http://")
	head := "POST /session HTTP/1.1\r\nHost: %s\r\nX-Long: " + strings.Repeat("x", 15<<10) + "\r\nContent-Length: %d\r\n\r\n"
	return func(int) {
		conn := dialFor(s.t, host)
		_, _ = fmt.Fprintf(countedConn{conn, s}, head, host, 16<<10)
		_, _ = countedConn{conn, s}.Write(make([]byte, 16<<10-1))
	}
}

// manySections is as long a session description as the gateway takes of a page that sends.
var manySections = func() string {
	var all strings.Builder
	all.WriteString("v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n")
	for n := range 99 {
		fmt.Fprintf(&all, "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=mid:%d\r\na=recvonly\r\na=rtpmap:111 opus/48000/2\r\n%s", n,
			strings.Repeat("a=x:"+strings.Repeat("x", 60)+"\r\n", 30))
	}
	return all.String()
}()

// connects has guests of one link come in, again and again.
func connects(s *sender) func(int) {
	s.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
	ticket := s.a.ticket(map[string]any{"room": "open", "name": "Eve"})
	tokens := make([]string, 101)
	for n := range tokens {
		tokens[n] = s.a.mustEnter(map[string]any{"room": "open", "name": "Eve", "ticket": ticket}).Engine.Token
	}
	at := strings.Replace(s.a.baseURL, "http", "ws", 1) + "/media-server/rtc?protocol=16&auto_subscribe=1&access_token="
	return func(n int) {
		conn, _, err := websocket.Dial(s.t.Context(), at+tokens[n], &websocket.DialOptions{HTTPClient: s.http}) //nolint:bodyclose // the library closes it
		if err != nil {
			s.t.Error(err)
			return
		}
		s.t.Cleanup(func() { _ = conn.CloseNow() })
	}
}

// signals enters a room and sends messages, until the gateway takes no more of them.
func signals(messages func(func(*lk.SignalRequest) bool)) func(*sender) func(int) {
	return func(s *sender) func(int) {
		s.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
		var eves []entry
		for range 8 {
			eves = append(eves, s.a.mustEnter(map[string]any{"room": "open", "name": "Eve"}))
		}
		return func(n int) {
			ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
			defer cancel()
			at := strings.Replace(s.a.baseURL, "http", "ws", 1) + "/media-server/rtc?protocol=16&auto_subscribe=1&access_token=" + eves[n-1].Engine.Token
			conn, _, err := websocket.Dial(ctx, at, nil) //nolint:bodyclose // the library closes it
			if err != nil {
				s.t.Error(err)
				return
			}
			defer func() { _ = conn.CloseNow() }()
			conn.SetReadLimit(-1)
			go func() {
				for _, _, err := conn.Read(ctx); err == nil; _, _, err = conn.Read(ctx) {
				}
			}()
			for message := range messages {
				data, err := proto.Marshal(message)
				if err != nil || conn.Write(ctx, websocket.MessageBinary, data) != nil {
					return
				}
				_, _ = s.Write(data)
			}
		}
	}
}

// chats writes to a room of ten.
func chats(s *sender) func(int) {
	s.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "chatty"})
	var eve entry
	for range 10 {
		eve = s.a.mustEnter(map[string]any{"room": "chatty", "name": "Eve"})
		eve.connect(s.t)
	}
	return func(n int) {
		s.call("POST", "/session/chat", "Bearer "+eve.Session, fmt.Sprintf(`{"text":"%d%s"}`, n, strings.Repeat("x", 500)))
	}
}

// acts locks and unlocks.
func acts(s *sender) func(int) {
	ticket := s.a.ticket(map[string]any{"room": "acted", "name": "Mallory", "token": s.a.presenterToken("mallory")})
	mallory := s.a.mustEnter(map[string]any{"room": "acted", "ticket": ticket})
	mallory.connect(s.t)
	return func(n int) {
		s.call("POST", "/session/act", "Bearer "+mallory.Session, fmt.Sprintf(`{"action":%q}`, []string{"lock", "unlock"}[n%2]))
	}
}

// lists asks for all meetings.
func lists(s *sender) func(int) {
	inParallel(s.t, 2000, func(n int) error { return s.Client.Create(s.t.Context(), s.meeting(fmt.Sprint("listed-", n))) })
	s.eventually(s.t, func() error {
		if listed := strings.Count(s.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil).raw, `"roomId":"listed-`); listed < 2000 {
			return fmt.Errorf("%d are listed", listed)
		}
		return nil
	})
	s.settle(s.t)
	return func(int) { s.call("GET", "/api/v1/meetings", s.a.key, "") }
}

// objects makes Meetings with an annotation.
func objects(length int) func(*sender) func(int) {
	return func(s *sender) func(int) {
		run := time.Now().UnixNano()
		return func(n int) {
			room := fmt.Sprint("object-", run, "-", n)
			m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: meeting.ObjectNames("default", room)[0]}}
			m.Annotations = map[string]string{"notes": strings.Repeat("n", length)}
			m.Spec.Room, m.Spec.ConfigRef.Name = room, "default"
			_ = json.NewEncoder(s).Encode(m)
			if err := s.Client.Create(s.t.Context(), m); err != nil {
				s.t.Error(err)
			}
		}
	}
}

// webhooks tells of rooms that are not there, as whoever has the key can.
func webhooks(s *sender) func(int) {
	return func(n int) {
		body := fmt.Sprintf(`{"event":"participant_joined","room":{"name":"convene_x_%d"}}`, n)
		sum := sha256.Sum256([]byte(body))
		token, err := auth.NewAccessToken(s.livekit.Key, s.livekit.Secret).SetValidFor(time.Minute).SetSha256(base64.StdEncoding.EncodeToString(sum[:])).ToJWT()
		if err != nil {
			s.t.Error(err)
		}
		s.call("POST", "/media-server/webhook", token, body)
	}
}

// answers has a MediaServer of the tenant list people, as many as there are of a meeting in the largest room.
func answers(s *sender) func(int) {
	fake := mediaserver.New(s.t)
	fake.Key, fake.Secret = s.livekit.Key, s.livekit.Secret
	to, err := url.Parse(fake.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { proxy.ServeHTTP(countedAnswer{w, s}, r) }))
	s.t.Cleanup(front.Close)
	s.Kubectl(s.t, "patch", "mediaserver", "livekit", "--type=merge", "-p", `{"spec":{"apiURL":"`+front.URL+`"}}`)
	uid, err := s.uidOf("default")
	if err != nil {
		s.t.Fatal(err)
	}
	s.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "hostile"})
	room := string(meeting.EngineRoom(uid, string(s.meetingsOf(s.t, "hostile")[0].UID)))
	s.eventually(s.t, func() error {
		if status, e := s.a.session(map[string]any{"room": "hostile", "name": "Ada"}); status != http.StatusOK || !fake.Has(room) {
			return fmt.Errorf("%d %s", status, e.Error)
		}
		return nil
	})
	var people []*lk.ParticipantInfo
	for n := range 1000 {
		p := mediaserver.Person(fmt.Sprint("p", n), time.Now())
		p.Metadata = strings.Repeat("m", 8<<10)
		people = append(people, p)
	}
	fake.Fill(room, people...)
	return func(int) { <-time.After(8 * time.Second) } // Nothing has to be done for it.
}

// countedAnswer counts what is answered.
type countedAnswer struct {
	http.ResponseWriter
	count io.Writer
}

func (a countedAnswer) Write(data []byte) (int, error) {
	_, _ = a.count.Write(data)
	return a.ResponseWriter.Write(data)
}
