// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const patience = 30 * time.Second

// relayed is a server in front of an upstream, as the gateway is.
type relayed struct {
	*httptest.Server
	// open counts the connections that have not been closed.
	open atomic.Int32
}

func newRelayed(t testing.TB, upstream string) *relayed {
	t.Helper()
	to, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	r, relay := &relayed{}, New()
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.open.Add(1)
		err := relay.Connect(w, request, Server{URL: to}, "192.0.2.1", func() { r.open.Add(-1) })
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
	for _, length := range []int{0, 1, 125, 126, 5000, 70_000, maxMessage} {
		sent := strings.Repeat("x", length)
		if err := conn.Write(within(t), websocket.MessageText, []byte(sent)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := conn.Read(within(t)); err != nil || string(got) != sent {
			t.Fatalf("%d bytes: %d come back, %v", length, len(got), err)
		}
	}
	if err := conn.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
	r.waitUntilClosed(t)
}

func TestALongMessageClosesTheConnection(t *testing.T) {
	upstream, _ := echo(t)
	r := newRelayed(t, upstream)
	conn := dial(t, r.URL)
	_ = conn.Write(within(t), websocket.MessageText, make([]byte, maxMessage+1)) // It may fail before all is sent.
	_, _, err := conn.Read(within(t))
	if websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", err)
	}
	r.waitUntilClosed(t)
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

// open connects without any memory of a client's library.
func open(t testing.TB, at string) {
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
	// A message in each direction, so that buffers are there.
	_, _ = conn.Write(frame(finalBit|text, 1000))
}

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
