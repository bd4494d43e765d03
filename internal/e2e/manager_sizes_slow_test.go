// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// silentSignalling is in front of LiveKit, and takes the connections of signalling itself: LiveKit would hold 1 MB for each.
func silentSignalling(t *testing.T, livekit string) (at string) {
	t.Helper()
	to, err := url.Parse(livekit)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			proxy.ServeHTTP(w, r)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = conn.Close() })
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestAsManyConnectionsAsTheDocumentsSay: a manager with the chart's limits holds 7,360 connections of signalling. One more is asked to come
// back, and the API goes on.
func TestAsManyConnectionsAsTheDocumentsSay(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	const connections, ofOne = 7360, 15
	w := newWorldWith(t, testkit.ControlPlane(t), chartsMemory)
	w.Kubectl(t, "patch", "mediaserver", "livekit", "--type=merge", "-p", `{"spec":{"apiURL":"`+silentSignalling(t, w.livekit.URL)+`"}}`)
	host := strings.TrimPrefix(w.a.baseURL, "http://")
	dialer := func(n int) *net.Dialer {
		return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(n%100+1))}}
	}
	connect := func(n int, token string) (status int, err error) {
		conn, err := dialer(n).DialContext(t.Context(), "tcp", host)
		if err != nil {
			return 0, err
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = fmt.Fprintf(conn, "GET /media-server/rtc?protocol=16&access_token=%s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", token, host)
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	tokens := make([]string, (connections+ofOne-1)/ofOne)
	for n := range tokens {
		room := fmt.Sprint("full-", n/200)
		if n%200 == 0 {
			w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
		}
		tokens[n] = w.a.mustEnter(map[string]any{"room": room, "name": "Ada"}).Engine.Token
	}
	before := heldMemory(t, w.manager.PID())
	inParallel(t, connections, func(n int) error {
		status, err := connect(n, tokens[(n-1)/ofOne])
		if err == nil && status != http.StatusSwitchingProtocols {
			err = fmt.Errorf("connection %d: status %d", n, status)
		}
		return err
	})
	held := heldMemory(t, w.manager.PID())
	t.Logf("%d connections: %.0f MB, %.0f before", connections, held, before)
	if held > 460 || held-before > 350 {
		t.Errorf("%d connections: %.0f MB, %.0f before", connections, held, before)
	}
	last := w.a.mustEnter(map[string]any{"room": "full-0", "name": "Ada"}).Engine.Token
	if status, err := connect(connections+1, last); err != nil || status != http.StatusServiceUnavailable {
		t.Error(errors.Join(fmt.Errorf("one more: status %d", status), err))
	}
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "beside"})
}
