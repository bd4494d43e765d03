// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// socket is a WebSocket with nothing between the test and the bytes.
func socket(t *testing.T, at, token string) (net.Conn, http.Header) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	conn := dialFor(t, u.Host)
	_, err = fmt.Fprintf(conn, "GET %s/rtc?access_token=%s&protocol=16&sdk=js&auto_subscribe=1 HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n", u.Path, token, u.Host)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("no WebSocket: %d", response.StatusCode)
	}
	return conn, response.Header
}

func dialFor(t *testing.T, host string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// zeros is a compressed message (RFC 7692) of so many bytes, as one masked frame.
func zeros(t *testing.T, length int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeroReader{}, int64(length)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	payload := bytes.TrimSuffix(packed.Bytes(), []byte{0, 0, 0xff, 0xff})
	frame := binary.BigEndian.AppendUint64([]byte{0xc2, 0xff}, uint64(len(payload)))
	return append(append(frame, 0, 0, 0, 0), payload...)
}

// frameOf is a frame of zeros with a long header and a mask of zeros.
func frameOf(first byte, length int) []byte {
	frame := binary.BigEndian.AppendUint64([]byte{first, 0xff}, uint64(length))
	return append(append(frame, 0, 0, 0, 0), make([]byte, length)...)
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestAMessageCannotTakeLiveKitsMemory: LiveKit reads messages of any length, and takes compressed ones. Through the gateway
// it gets neither.
func TestAMessageCannotTakeLiveKitsMemory(t *testing.T) {
	w := newWorldOfOne(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
	e := w.a.mustEnter(map[string]any{"room": "open", "name": "Eve"})
	const length = 100 << 20
	packed := zeros(t, length)
	before := heldMemory(t, w.livekit.PID())
	for reason, message := range map[string][]byte{
		"compressed":   packed,
		"in one frame": frameOf(0x82, length),
		"in fragments": append(frameOf(0x02, 64<<10), bytes.Repeat(frameOf(0x00, 64<<10), length>>16)...),
	} {
		conn, header := socket(t, w.a.baseURL+"/media-server", e.Engine.Token)
		if extensions := header.Get("Sec-WebSocket-Extensions"); extensions != "" {
			t.Fatalf("%s: extensions %q", reason, extensions)
		}
		_, _ = conn.Write(message) // It breaks off when the gateway has seen enough.
		if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: the connection is held", reason)
		}
		if grown := heldMemory(t, w.livekit.PID()) - before; grown > 40 {
			t.Errorf("%s: %d bytes sent have LiveKit hold %.0f MB more", reason, len(message), grown)
		}
	}
}

// TestALongTrackNameIsRemovedOnSight: through the gateway, a long name ends the connection. Who gets to
// LiveKit past the gateway all the same is removed.
func TestALongTrackNameIsRemovedOnSight(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	honest, _ := w.a.enter(map[string]any{"room": "open", "name": "Ada"})
	for _, past := range []bool{false, true} {
		e := w.a.mustEnter(map[string]any{"room": "open", "name": "Eve"})
		if past {
			e.Engine.URL = strings.Replace(w.livekit.URL, "http", "ws", 1)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		eve, err := peer.Join(ctx, e.Engine.URL, e.Engine.Token)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = eve.PublishNamed(ctx, peer.Camera, strings.Repeat("x", 200<<10)) // Through the gateway it fails.
		cancel()
		select {
		case <-eve.Disconnected():
		case <-time.After(patience):
			t.Errorf("past the gateway, %v: the participant stays", past)
		}
	}
	select {
	case reason := <-honest.Disconnected():
		t.Errorf("the other participant was disconnected: %s", reason)
	default:
	}
}

// TestAttackConnections: what anybody can have a replica hold, with no secret, is bounded by kind of request. Each connection here sends
// all that is taken from it but the last byte, or does not read what it is sent.
func TestAttackConnections(t *testing.T) {
	w := newWorldOfOne(t)
	host := strings.TrimPrefix(w.a.baseURL, "http://")
	long := strings.Repeat("x", 15<<10)
	var many strings.Builder
	for i := range 3500 {
		fmt.Fprintf(&many, "%c%c%c:\n", 'a'+i%26, 'a'+i/26%26, 'a'+i/26/26)
	}
	compressed, err := filepath.Glob("../web/dist/assets/*.wasm.gz")
	if err != nil || len(compressed) == 0 {
		t.Fatalf("no file is there in compressed form only: %v", err)
	}
	file := strings.TrimSuffix(filepath.Base(compressed[0]), ".gz")
	for _, kind := range []struct {
		name, head string
		body       int
		// most is for one connection, in bytes, with the garbage that the collector lets stand. A body that is read is beyond it.
		most float64
	}{
		{"a webhook that is not signed", "POST /media-server/webhook HTTP/1.1\r\nHost: %s\r\nAuthorization: forged\r\nContent-Length: %d\r\n\r\n", 1 << 20, 16 << 10},
		{"a session with long headers", "POST /session HTTP/1.1\r\nHost: %s\r\nX-Long: " + long + "\r\nContent-Length: %d\r\n\r\n", 16 << 10, 100 << 10},
		{"a call of the API without a key", "POST /api/v1/join HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", 64 << 10, 48 << 10},
		{"many short headers", "POST /session HTTP/1.1\r\nHost: %s\r\n" + many.String() + "Content-Length: %d\r\n", 1, 48 << 10},
		{"a file in compressed form that nobody reads", "GET /assets/" + file + " HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", 1, 64 << 10},
	} {
		const connections = 1500 // Fewer would drown in the garbage of the manager, which counts as well.
		before := heldMemory(t, w.manager.PID())
		for range connections {
			conn := dialFor(t, host)
			_, _ = fmt.Fprintf(conn, kind.head, host, kind.body)
			// What is answered before it has arrived breaks the connection off.
			_ = conn.SetWriteDeadline(time.Now().Add(2 * time.Second))
			_, _ = conn.Write(make([]byte, kind.body-1))
		}
		each := (heldMemory(t, w.manager.PID()) - before) * 1e6 / connections
		t.Logf("%s: %.0f bytes of memory for each of %d connections", kind.name, each, connections)
		if testkit.RaceEnabled {
			kind.most = 300 << 10 // The detector keeps memory of its own for all that is touched. A body that is read takes a megabyte.
		}
		if each > kind.most {
			t.Errorf("%s: a connection takes %.0f bytes, at most %.0f are promised", kind.name, each, kind.most)
		}
		if r := w.a.want(http.StatusOK, "GET", "/api/v1/stats", nil); r.body["success"] != true {
			t.Errorf("meanwhile: %s", r.raw)
		}
	}
	testkit.Eventually(t, patience, func() error { return ready(w.manager.HealthURL) })
}

func ready(at string) error {
	response, err := http.Get(at + "/readyz")
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("readyz: %d", response.StatusCode)
	}
	return nil
}
