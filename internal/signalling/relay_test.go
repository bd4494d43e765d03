// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/gobwas/ws"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
)

const patience = 30 * time.Second

// relayed is a server in front of an upstream, as the gateway is.
type relayed struct {
	*httptest.Server
	relay *Relay
	// open counts the connections that are open, and refused the connections that were closed because of what they sent.
	open, refused atomic.Int32
}

func newRelayed(t testing.TB, upstream string) *relayed {
	t.Helper()
	to, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	r := &relayed{relay: New()}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.open.Add(1)
		from := netip.MustParseAddr("192.0.2.1")
		err := r.relay.Connect(w, request, Server{URL: to}, Browser{Participant: request.URL.Path, Meeting: "meeting", Address: from, Site: netip.PrefixFrom(from, 24)}, func(refused error) {
			if refused != nil {
				r.refused.Add(1)
			}
			r.open.Add(-1)
		})
		if refused := (*RefusedError)(nil); errors.As(err, &refused) {
			r.open.Add(-1)
			w.WriteHeader(refused.Status)
			return
		}
		if err != nil {
			r.open.Add(-1)
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// echo answers every message with itself, and keeps the request.
func echo(t *testing.T) (upstream string, asked chan *http.Request) {
	t.Helper()
	asked = make(chan *http.Request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		// It compresses where it is asked to, as LiveKit does.
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover})
		if err != nil {
			return
		}
		conn.SetReadLimit(-1)
		for {
			kind, message, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			if err := conn.Write(r.Context(), kind, message); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func dial(t *testing.T, at string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(within(t), at, &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		CompressionMode: websocket.CompressionContextTakeover,
		HTTPHeader:      http.Header{"Cookie": {"a=b"}, "Authorization": {"Bearer x"}, "User-Agent": {"Browser/1"}, "X-Forwarded-For": {"203.0.113.9"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(-1)
	return conn
}

func (r *relayed) waitUntilClosed(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for r.open.Load() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are open", r.open.Load())
		}
		runtime.Gosched()
	}
}

func TestWhatIsCarried(t *testing.T) {
	upstream, asked := echo(t)
	r := newRelayed(t, upstream)
	conn := dial(t, r.URL)
	request := <-asked
	for name, want := range map[string]string{
		"Sec-Websocket-Extensions": "", "Cookie": "", "Authorization": "", "User-Agent": "Browser/1", "X-Forwarded-For": "192.0.2.1",
	} {
		if got := request.Header.Get(name); got != want {
			t.Errorf("%s reaches the media server as %q, want %q", name, got, want)
		}
	}
	long := func(cameras int) *lk.SignalRequest {
		passed, err := sent(t, answer(answerOf(t, "chromium", cameras, cameras)))
		if err != nil {
			t.Fatal(err)
		}
		return passed
	}
	write(t, conn, encoded(t, long(100))) // An answer to nothing does not come back, or any of those below would not.
	// Each answer is to the one before, which came back.
	for _, message := range []*lk.SignalRequest{ping(1), offer(pageOffer), long(4), long(10), long(24), long(50), long(100), ping(2)} {
		sent := encoded(t, message)
		write(t, conn, sent)
		if _, got, err := conn.Read(within(t)); err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("%d bytes: %d come back, %v", len(sent), len(got), err)
		}
	}
	ctx := conn.CloseRead(within(t))
	if err := conn.Ping(ctx); err != nil {
		t.Errorf("a ping to the media server: %v", err)
	}
	if err := conn.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
	if r.waitUntilClosed(t); r.refused.Load() > 0 {
		t.Error("an end is counted as a refusal")
	}
}

func write(t *testing.T, conn *websocket.Conn, message []byte) {
	t.Helper()
	if err := conn.Write(within(t), websocket.MessageBinary, message); err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsRefusedClosesTheConnection: the media server gets nothing of it, and the page is told why.
func TestWhatIsRefusedClosesTheConnection(t *testing.T) {
	for name, tc := range map[string]struct {
		kind websocket.MessageType
		data []byte
		want websocket.StatusCode
	}{
		"a message that is too long":     {websocket.MessageBinary, make([]byte, maxMessage+1), websocket.StatusMessageTooBig},
		"a message that is not known":    {websocket.MessageBinary, []byte("x"), websocket.StatusPolicyViolation},
		"a message that does not pass":   {websocket.MessageBinary, encoded(t, simulate(&lk.SimulateScenario{})), websocket.StatusPolicyViolation},
		"a message in another encoding":  {websocket.MessageText, []byte(`{"ping":1}`), websocket.StatusUnsupportedData},
		"a message that names too much":  {websocket.MessageBinary, encoded(t, subscribe(numbered(maxTracks+1)...)), websocket.StatusPolicyViolation},
		"a description that is too long": {websocket.MessageBinary, encoded(t, offer(strings.Repeat("x", maxDescription))), websocket.StatusPolicyViolation},
	} {
		upstream, _ := echo(t)
		r := newRelayed(t, upstream)
		conn := dial(t, r.URL)
		_ = conn.Write(within(t), tc.kind, tc.data) // It may fail before all is sent.
		_, told, err := conn.Read(within(t))
		if err == nil {
			response := &lk.SignalResponse{}
			if err := proto.Unmarshal(told, response); err != nil || response.GetLeave().GetReason() != lk.DisconnectReason_STATE_MISMATCH {
				t.Errorf("%s: the page is told %v, %v", name, response, err)
			}
			_, _, err = conn.Read(within(t))
		}
		if websocket.CloseStatus(err) != tc.want {
			t.Errorf("%s: closed with %v", name, err)
		}
		if r.waitUntilClosed(t); r.refused.Load() != 1 {
			t.Errorf("%s: %d connections are counted as refused", name, r.refused.Load())
		}
	}
}

// TestWhoWaitsIsLetGo: a participant who waits, because of what was spent, does not hold a connection that the media server has ended.
func TestWhoWaitsIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, page := net.Pipe()
		server, engine := net.Pipe()
		c := &connection{browser: browser, server: server, spent: alone()}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := c.run(nil); err != nil {
				t.Errorf("a participant who waits is refused: %v", err)
			}
		}()
		passed := 0
		go func() {
			for {
				if _, err := engine.Read(make([]byte, bufferSize)); err != nil {
					return
				}
				passed++
			}
		}()
		go func() {
			for {
				if _, err := page.Write(clientFrame(ws.OpBinary, encoded(t, simulateProtocol(lk.CandidateProtocol_TCP)))); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if passed != rates[ofSimulations].holds {
			t.Errorf("%d simulations are passed on at once, want %d", passed, rates[ofSimulations].holds)
		}
		begun := time.Now()
		_ = engine.Close()
		<-ended
		if held := time.Since(begun); held > 0 {
			t.Errorf("the connection is held for %v", held)
		}
	})
}

// TestLongMessagesWaitForMemory: a site or a meeting whose messages do not arrive holds up its own alone, and for a while.
func TestLongMessagesWaitForMemory(t *testing.T) {
	of := func(meeting, site string) *connection {
		return &connection{spent: account{sharer: sharer{meeting, netip.MustParsePrefix(site)}}}
	}
	for name, tc := range map[string]struct {
		size int
		pool func(*connection) **pool
	}{
		"middle": {middleSize, func(c *connection) **pool { return &c.middle }}, "long": {maxMessage, func(c *connection) **pool { return &c.long }},
	} {
		synctest.Test(t, func(t *testing.T) {
			shared := newPool(4 * tc.size)
			take := func(ctx context.Context, c *connection) (func(), time.Duration, error) {
				*tc.pool(c) = shared
				begun := time.Now()
				giveBack, err := c.take(ctx, tc.size)
				return giveBack, time.Since(begun), err
			}
			giveBack, _, err := take(t.Context(), of("lesson", "192.0.2.0/24"))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := take(t.Context(), of("lesson", "198.51.100.0/24")); err != nil {
				t.Fatal(err)
			}
			for who, c := range map[string]*connection{"a third site of the meeting": of("lesson", "203.0.113.0/24"), "the site in another meeting": of("talk", "192.0.2.0/24")} {
				if _, waited, err := take(t.Context(), c); !errors.Is(err, errManyLong) || waited != longTimeout {
					t.Errorf("%s, %s: refused after %v, %v", name, who, waited, err)
				}
			}
			if _, waited, err := take(t.Context(), of("talk", "203.0.113.0/24")); err != nil || waited > 0 {
				t.Errorf("%s: others wait for %v: %v", name, waited, err)
			}
			time.AfterFunc(time.Second, giveBack)
			if _, waited, err := take(t.Context(), of("lesson", "192.0.2.0/24")); err != nil || waited != time.Second {
				t.Errorf("%s: memory that was given back is there after %v: %v", name, waited, err)
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, err := take(gone, of("lesson", "192.0.2.0/24")); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: a connection that ends waits: %v", name, err)
			}
		})
	}
}

// TestLongMessagesDoNotWaitForEachOther: when all of a large meeting send their session descriptions at once, and a part of each arrives at a
// time, none has to be sent again.
func TestLongMessagesDoNotWaitForEachOther(t *testing.T) {
	const people, length = 100, 300 << 10
	synctest.Test(t, func(t *testing.T) {
		// A manager with the chart's limits has so much.
		bytes := 460 << 20 / 8 / longCost
		middle, long := newPool(bytes/4), newPool(bytes/4*3)
		var all sync.WaitGroup
		for range people {
			all.Go(func() {
				c := &connection{middle: middle, long: long, spent: alone()}
				m := newMessages(inTime{strings.NewReader(string(frame(final|binaryFrame, length)))})
				m.hurry = func() func() { return func() {} }
				m.take = func(bytes int) (func(), error) { return c.take(t.Context(), bytes) }
				message, done, err := m.next()
				if err != nil || len(message) != length {
					t.Errorf("%d bytes, %v", len(message), err)
					return
				}
				done()
			})
		}
		all.Wait()
	})
}

// inTime is read slowly, at 400 kB/s.
type inTime struct{ io.Reader }

func (r inTime) Read(into []byte) (int, error) {
	<-time.After(10 * time.Millisecond)
	return r.Reader.Read(into[:min(len(into), bufferSize)])
}

// TestALongMessageEnds: a browser that does not send the rest of it loses its connection, and what was taken for it is given back.
func TestALongMessageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, page := net.Pipe()
		server, _ := net.Pipe()
		c := &connection{browser: browser, server: server, spent: alone(), middle: newPool(4 * middleSize), long: newPool(4 * maxMessage)}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = c.run(nil)
		}()
		begun := time.Now()
		if _, err := page.Write(frame(final|binaryFrame, maxMessage)[:maxMessage/2]); err != nil {
			t.Fatal(err)
		}
		if _, err := page.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(begun) != longTimeout {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		<-ended
		if _, err := c.take(t.Context(), maxMessage); err != nil {
			t.Errorf("the memory is not given back: %v", err)
		}
	})
}

func TestTheMediaServersRefusalIsHandedOn(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer upstream.Close()
	r := newRelayed(t, upstream.URL)
	_, response, err := websocket.Dial(within(t), r.URL, nil) //nolint:bodyclose // the library closes it
	if err == nil || response == nil || response.StatusCode != http.StatusTeapot {
		t.Errorf("%v, %v", response, err)
	}
	upstream.Close()
	if _, response, err = websocket.Dial(within(t), r.URL, nil); err == nil || response.StatusCode != http.StatusBadGateway { //nolint:bodyclose // the library closes it
		t.Errorf("without a media server: %v, %v", response, err)
	}
	r.waitUntilClosed(t)
}

func TestEitherSideEndsBoth(t *testing.T) {
	ended := make(chan struct{}, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if r.URL.Query().Has("leave") {
			_ = conn.CloseNow()
			return
		}
		_, _, _ = conn.Read(r.Context())
		ended <- struct{}{}
	}))
	defer upstream.Close()
	away := newRelayed(t, upstream.URL+"?leave")
	if _, _, err := dial(t, away.URL).Read(within(t)); err == nil {
		t.Error("the browser stays connected without the media server")
	}
	away.waitUntilClosed(t)
	stays := newRelayed(t, upstream.URL)
	_ = dial(t, stays.URL).CloseNow()
	select {
	case <-ended:
	case <-within(t).Done():
		t.Error("the media server stays connected without the browser")
	}
	stays.waitUntilClosed(t)
}

// silent is an upstream that agrees to every WebSocket and says nothing, in as little memory as there can be.
func silent(t testing.TB) string {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			request, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				return
			}
			sum := sha1.Sum([]byte(request.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
				base64.StdEncoding.EncodeToString(sum[:]))
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return "http://" + l.Addr().String()
}

// rawConnection connects without any memory of a client's library.
func rawConnection(t testing.TB, at string) net.Conn {
	conn, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	answer := make([]byte, 12)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 101" {
		t.Fatalf("%q: %v", answer, err)
	}
	return conn
}

// open connects, and sends a message, so that buffers are there.
func open(t testing.TB, at string) {
	_, _ = rawConnection(t, at).Write(pinged)
}

var pinged = func() []byte {
	data, err := proto.Marshal(ping(1))
	if err != nil {
		panic(err)
	}
	return clientFrame(ws.OpBinary, data)
}()

// inUse is the memory of the heap and of goroutines, in bytes.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// MemoryOfOne is what docs/performance.md promises of a connection, in bytes, with both test ends of it.
const memoryOfOne = 30 << 10

func TestMemoryOfAConnection(t *testing.T) {
	const connections = 500
	r := newRelayed(t, silent(t))
	open(t, r.URL)
	before := inUse()
	for range connections {
		open(t, r.URL)
	}
	each := (inUse() - before) / connections
	t.Logf("%d bytes for each connection", each)
	if each > memoryOfOne {
		t.Errorf("a connection takes %d bytes, at most %d are promised", each, memoryOfOne)
	}
}
