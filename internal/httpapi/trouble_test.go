// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// dial connects without a client that knows better.
func dial(t testing.TB, server *httptest.Server) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func decode(t testing.TB, part string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestErrorsOfMeetings(t *testing.T) {
	const ours = "Something went wrong on our side; try again, and tell the operator if it stays"
	for _, tc := range []struct {
		reason string
		err    error
		status int
		says   string
		retry  bool
	}{
		{"invalid", fault.Invalid("duration", "duration is wrong"), 400, "duration is wrong", false},
		{"denied", fault.Denied("roomPassword is wrong"), 403, "roomPassword is wrong", false},
		{"conflict", fault.Conflict("the room has other values"), 409, "the room has other values", false},
		{"unavailable", fault.Unavailable("the API server is away").Because(errors.New("dial tcp 10.0.0.1")), 503, "the API server is away", true},
		{"wrapped", fmt.Errorf("store: %w", fault.Unavailable("the API server is away")), 503, "the API server is away", true},
		{"an error of nobody", errors.New("pq: secret detail"), 500, ours, false},
		{"a deadline", fmt.Errorf("store: %w", context.DeadlineExceeded), 503, httpserver.ErrTimeout.Message, true},
	} {
		w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
		w.meetings.fail = tc.err
		for _, e := range everyEndpoint {
			if e.path == "token" || strings.HasPrefix(e.path, "docs") {
				continue
			}
			if e.method == http.MethodGet {
				continue // Reading cannot fail.
			}
			if e.path == "meeting/stand-up" && tc.status == 409 {
				continue
			}
			got := w.do(e.method, e.path, e.body)
			if got.status != tc.status || got.text(t, "error") != tc.says {
				t.Errorf("%s: %s: %d %s", tc.reason, e.path, got.status, got.body)
			}
			if retry := got.header.Get("Retry-After"); (retry != "") != tc.retry {
				t.Errorf("%s: %s: Retry-After %q", tc.reason, e.path, retry)
			}
		}
	}
}

func TestPanic(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	w.meetings.panic = true
	got := w.do(http.MethodGet, "stats", "")
	if got.status != http.StatusInternalServerError || strings.Contains(got.body, "fake") {
		t.Errorf("%d %s", got.status, got.body)
	}
	lines := w.logged()
	if len(lines) != 1 || !strings.Contains(fmt.Sprint(lines[0]["error"]), "the fake was told to") || !strings.Contains(fmt.Sprint(lines[0]["error"]), "fake_test.go") {
		t.Errorf("the log does not say where: %v", lines)
	}
	w.meetings.panic = false
	if got := w.do(http.MethodGet, "stats", ""); got.status != http.StatusOK {
		t.Errorf("afterwards: %d", got.status)
	}
}

func TestTimeout(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA))
	w.options.Timeout = 20 * time.Millisecond
	w.serve()
	w.meetings.block = true
	for _, e := range everyEndpoint[2:5] { // Those that write.
		got := w.do(e.method, e.path, e.body)
		if got.status != http.StatusServiceUnavailable || got.text(t, "error") != httpserver.ErrTimeout.Message || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", e.path, got.status, got.body)
		}
	}
}

// TestSlowBody sends the head of a request and never its body.
func TestSlowBody(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA))
	w.readTimeout = 50 * time.Millisecond
	w.serve()
	conn := dial(t, w.server)
	_, err := fmt.Fprintf(conn, "POST /video/api/v1/token HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Length: 20\r\n\r\n{", host, rightKey)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusRequestTimeout || string(body) != `{"error":"The body did not arrive in time; send it again"}` || !answer.Close {
		t.Errorf("%d %s, closes %v", answer.StatusCode, body, answer.Close)
	}
}

func TestBodySize(t *testing.T) {
	fill := func(size int) string {
		begin, end := `{"username":"u","x":"`, `"}`
		return begin + strings.Repeat("x", size-len(begin)-len(end)) + end
	}
	chunked := func(r *http.Request) { r.ContentLength = -1; r.TransferEncoding = []string{"chunked"} }
	plain := func(*http.Request) {}
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	for _, tc := range []struct {
		size   int
		change func(*http.Request)
		status int
	}{
		{64 << 10, plain, 200}, {64<<10 + 1, plain, 413}, {1 << 20, plain, 413},
		{64 << 10, chunked, 200}, {64<<10 + 1, chunked, 413}, {1 << 20, chunked, 413},
	} {
		got := w.do(http.MethodPost, "token", fill(tc.size), tc.change)
		if got.status != tc.status {
			t.Errorf("%d bytes: %d %s", tc.size, got.status, got.body)
		}
	}
	if got := w.do(http.MethodPost, "token", fill(1<<20), header("Authorization", "wrong")); got.status != http.StatusForbidden {
		t.Errorf("the secret is checked before the body: %d", got.status)
	}
}

// TestLateReader writes 1 MiB before it reads anything, as simple clients do, and gets to read the answer.
func TestLateReader(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	conn := dial(t, w.server)
	const size = 1 << 20
	_, err := fmt.Fprintf(conn, "POST /video/api/v1/join HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Length: %d\r\n\r\n%s",
		host, rightKey, size, strings.Repeat("x", size))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", answer.StatusCode)
	}
}
