// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
)

const patience = 30 * time.Second

// served starts a gateway and returns its address. It is stopped with the test.
func served(t *testing.T, o Options, change func(*limits)) string {
	t.Helper()
	ports, err := devstack.RandomPorts(1)
	if err != nil {
		t.Fatal(err)
	}
	o.Addresses = []string{fmt.Sprintf("127.0.0.1:%d", ports[0])}
	o.Log, o.DrainTimeout = logr.Discard(), time.Second
	if o.Handler == nil {
		o.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				_, _ = fmt.Fprintf(w, "%s %d bytes", r.Proto, len(body))
			}
		})
	}
	s := New(o)
	if change != nil {
		change(&s.limits)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	testkit.Eventually(t, patience, func() error { return ready(s) })
	return o.Addresses[0]
}

// Served starts a gateway for the tests of package httpserver_test.
func Served(t *testing.T, handler http.Handler) (address string) {
	t.Helper()
	return served(t, Options{Handler: handler}, nil)
}

// ready asks as a probe does.
func ready(s *Server) error { return s.Check(httptest.NewRequest(http.MethodGet, "/readyz", nil)) }

// A probe that fails is a Warning of Kubernetes: one that comes while the server starts gets its answer when it has started, and
// one that comes while it drains gets it at once.
func TestTheProbeOfAServerThatStartsWaits(t *testing.T) {
	start, ctx := make(chan struct{}), t.Context()
	ctx, stop := context.WithCancel(ctx)
	s := New(Options{Addresses: []string{"127.0.0.1:0"}, Ready: start, Log: logr.Discard()})
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	impatient, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := s.Check(httptest.NewRequestWithContext(impatient, http.MethodGet, "/readyz", nil)); err == nil || impatient.Err() == nil {
		t.Errorf("before the start it answers %v, at once: %v", err, impatient.Err() == nil)
	}
	answer := make(chan error, 1)
	go func() { answer <- ready(s) }()
	close(start)
	if err := <-answer; err != nil {
		t.Errorf("the probe that waited was told: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	began := time.Now()
	if ready(s) == nil || time.Since(began) > startPatience/2 {
		t.Errorf("after the end the answer took %s", time.Since(began))
	}
}

// What the server needs beside itself is asked for with the probe's own time, on the port of the gateway as well.
func TestTheProbeAsksWhoLeads(t *testing.T) {
	var leads atomic.Bool
	address := served(t, Options{Handler: http.NotFoundHandler(), Leads: func(r *http.Request) error {
		if deadline, ok := r.Context().Deadline(); !ok || time.Until(deadline) > startPatience {
			t.Errorf("it may wait until %s (%t)", deadline, ok)
		}
		if leads.CompareAndSwap(false, true) {
			return errors.New("nobody leads")
		}
		return nil
	}}, nil)
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		leads.Store(want == http.StatusOK)
		response, err := http.Get("http://" + address + ReadyPath)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != want || strings.Contains(string(body), "leads") {
			t.Errorf("it answers %d %s", response.StatusCode, body)
		}
	}
}

// serialAt is the serial number of the certificate that a server shows.
func serialAt(address string) (int64, error) {
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
}

func TestTLSWithACertificateThatChanges(t *testing.T) {
	certFile, keyFile := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	testkit.Certificate(t, certFile, keyFile, 1)
	address := served(t, Options{CertFile: certFile, KeyFile: keyFile}, nil)
	shows := func(serial int64) {
		t.Helper()
		testkit.Eventually(t, patience, func() error {
			if got, err := serialAt(address); err != nil || got != serial {
				return fmt.Errorf("the certificate is number %d: %w", got, err)
			}
			return nil
		})
	}
	shows(1)
	client := &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	t.Cleanup(client.CloseIdleConnections)
	response, err := client.Post("https://"+address+"/", "", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if string(body) != "HTTP/1.1 5 bytes" {
		t.Errorf("answered %q", body)
	}
	if response, err := http.Get("http://" + address + "/"); err == nil {
		if _ = response.Body.Close(); response.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: %d", response.StatusCode)
		}
	}
	testkit.Certificate(t, certFile, keyFile, 2)
	shows(2)
	if err := os.WriteFile(certFile, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	shows(2)
	testkit.Certificate(t, certFile, keyFile, 3)
	shows(3)
}

func TestNoOldTLS(t *testing.T) {
	certFile, keyFile := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	testkit.Certificate(t, certFile, keyFile, 1)
	address := served(t, Options{CertFile: certFile, KeyFile: keyFile}, nil)

	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is accepted")
	}
}

func TestWithoutItsCertificateItDoesNotStart(t *testing.T) {
	s := New(Options{Addresses: []string{"127.0.0.1:0"}, CertFile: "/nowhere/tls.crt", KeyFile: "/nowhere/tls.key", Log: logr.Discard()})
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "/nowhere/tls.crt") {
		t.Errorf("started: %v", err)
	}
}

// TestSlowClientsAreCutOff: a client that takes too long over a header, a body, the reading of an answer or the next request
// holds nothing.
func TestSlowClientsAreCutOff(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	stuck := make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			var err error
			for err == nil {
				_, err = io.WriteString(w, large)
			}
			stuck <- err
			return
		}
		if _, err := io.ReadAll(r.Body); err == nil {
			_, _ = io.WriteString(w, "done")
		}
	})
	short := func(l *limits) {
		l.read, l.write, l.idle = 100*time.Millisecond, 300*time.Millisecond, 100*time.Millisecond
	}
	address := served(t, Options{Handler: handler}, short)
	for _, tc := range []struct{ reason, sends string }{
		{"nothing", ""},
		{"half a request line", "GET / HT"},
		{"headers without an end", "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n"},
		{"half a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf"},
		{"one request, and then nothing", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, tc.sends)
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection is held", tc.reason)
		}
		_ = conn.Close()
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case <-stuck: //nolint:errcheck // that it returns at all is what counts
	case <-time.After(patience):
		t.Error("a client that does not read holds the handler")
	}
}

func TestLargeHeadersAreRefused(t *testing.T) {
	address := served(t, Options{}, nil)
	for _, tc := range []struct {
		reason, path, header string
		status               int
	}{
		{"a long link", "/join?token=" + strings.Repeat("x", 15<<10), "", http.StatusOK},
		{"one that is too long", "/join?token=" + strings.Repeat("x", 64<<10), "", http.StatusRequestHeaderFieldsTooLarge},
		{"a header that is too long", "/", strings.Repeat("x", 64<<10), http.StatusRequestHeaderFieldsTooLarge},
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nX-Long: %s\r\n\r\n", tc.path, tc.header)
		}()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", tc.reason, err)
			continue
		}
		if response.StatusCode != tc.status {
			t.Errorf("%s: %d, want %d", tc.reason, response.StatusCode, tc.status)
		}
		_ = response.Body.Close()
		_ = conn.Close()
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	loopback := clientip.Proxies{netip.MustParsePrefix("127.0.0.1/32")}
	address := served(t, Options{TrustedProxies: loopback}, func(l *limits) { l.connections = 2 })
	ask := func(conn net.Conn) error {
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		return err
	}
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	first, second := dial(), dial()
	for _, conn := range []net.Conn{first, second} {
		if err := ask(conn); err != nil {
			t.Fatal(err)
		}
	}
	answered := make(chan error, 1)
	third := dial()
	go func() { answered <- ask(third) }()
	if err := ask(first); err != nil {
		t.Error(err)
	}
	select {
	case err := <-answered:
		t.Fatalf("a third connection is served beside two: %v", err)
	default:
	}
	_ = first.Close()
	select {
	case err := <-answered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the third is not served after one has gone")
	}
}

// TestProxiesKeepTheirConnections: a proxy that is trusted keeps an idle connection for longer than clients do, with TLS or
// without.
func TestProxiesKeepTheirConnections(t *testing.T) {
	certFile, keyFile := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	testkit.Certificate(t, certFile, keyFile, 1)
	for _, tc := range []struct {
		speaks string
		o      Options
		// opens makes of a connection one that has had an answer, or may have one.
		opens func(net.Conn) (net.Conn, error)
	}{
		{"HTTP/1.1", Options{}, func(conn net.Conn) (net.Conn, error) { return conn, askOn(conn) }},
		{"HTTP/1.1 over TLS", Options{CertFile: certFile, KeyFile: keyFile}, func(conn net.Conn) (net.Conn, error) {
			encrypted := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
			return encrypted, askOn(encrypted)
		}},
	} {
		tc.o.TrustedProxies = clientip.Proxies{netip.MustParsePrefix("127.0.0.66/32")}
		address := served(t, tc.o, func(l *limits) { l.idle = 50 * time.Millisecond })
		proxy, err := tc.opens(dialFrom(t, "127.0.0.66", address))
		if err != nil {
			t.Fatalf("%s: %v", tc.speaks, err)
		}
		closed := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, proxy)
			close(closed)
		}()
		// When a client is cut off that came later, the proxy has been idle for as long.
		client, err := tc.opens(dialFrom(t, "127.0.0.1", address))
		if err != nil {
			t.Fatalf("%s: %v", tc.speaks, err)
		}
		if _, err := io.Copy(io.Discard, client); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: an idle client is not cut off", tc.speaks)
		}
		select {
		case <-closed:
			t.Errorf("%s: the proxy is cut off with the clients", tc.speaks)
		default:
		}
	}
}

// TestAClientThatGoesOnIsNotIdle: the time begins anew with each answer.
func TestAClientThatGoesOnIsNotIdle(t *testing.T) {
	s := New(Options{})
	s.limits.idle = time.Hour
	ours, theirs := net.Pipe()
	defer func() { _ = ours.Close() }()
	defer func() { _ = theirs.Close() }()
	c := &connection{Conn: ours, leave: func() {}}
	for range 3 {
		s.whenStateChanges(c, http.StateIdle)
		last := c.idle
		s.whenStateChanges(c, http.StateActive)
		if last.Stop() {
			t.Error("a connection with a request is closed when the time of the pause before is over")
		}
	}
}

// A connection that stays open until a stopped server shuts it can have the next request of a proxy in it.
func TestConnectionsEndWhileItDrains(t *testing.T) {
	s := New(Options{Handler: http.NotFoundHandler(), Log: logr.Discard()})
	s.places = newPlaces(1, nil)
	for _, tc := range []struct {
		serving bool
		upgrade string
		want    string
	}{{true, "", ""}, {false, "", "close"}, {false, "websocket", ""}} {
		s.serving.Store(tc.serving)
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Upgrade", tc.upgrade)
		s.server().Handler.ServeHTTP(w, r)
		if got := w.Header().Get("Connection"); got != tc.want {
			t.Errorf("%+v: Connection is %q", tc, got)
		}
	}
}

// TestLoadBalancersAskForReadiness: by address, by any name, with HEAD, and the answer tells nothing else.
func TestLoadBalancersAskForReadiness(t *testing.T) {
	s := New(Options{Handler: http.NotFoundHandler(), Log: logr.Discard()})
	s.places = newPlaces(1, nil)
	ask := func(method, host, path string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, nil)
		r.Host = host
		s.server().Handler.ServeHTTP(w, r)
		return w
	}
	hosts := []string{"", "10.0.0.1", "10.0.0.1:8080", "[fd00::1]:8080", "convene.meet.svc", "nobody.example.com", "_"}
	close(s.started) // As after a start, and after a stop.
	for _, serving := range []bool{false, true, false} {
		s.serving.Store(serving)
		want, says := http.StatusServiceUnavailable, "not ready\n"
		if serving {
			want, says = http.StatusOK, "ok\n"
		}
		for _, host := range hosts {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				if got := ask(method, host, ReadyPath); got.Code != want || got.Body.String() != says {
					t.Errorf("%s of host %q: %d %q, want %d", method, host, got.Code, got.Body, want)
				}
			}
		}
	}
	s.serving.Store(true)
	if got := ask(http.MethodPost, "x", ReadyPath); got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, allowed are %q", got.Code, got.Header().Get("Allow"))
	}
	for _, path := range []string{"/", ReadyPath + "/", "/meet" + ReadyPath, "/READYZ"} {
		if got := ask(http.MethodGet, "x", path); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d, which is not the handler's", path, got.Code)
		}
	}
}
