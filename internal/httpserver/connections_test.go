// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"convene.dev/convene/internal/testkit"
)

// dialFrom connects to a server of this machine from one of its addresses.
func dialFrom(t *testing.T, source, address string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(source), 0))}
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

func askOn(conn net.Conn) error {
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return err
}

// TestOneAddressKeepsNobodyOut: a client that opens all connections that it can leaves half of them to others.
func TestOneAddressKeepsNobodyOut(t *testing.T) {
	address := served(t, Options{}, func(l *limits) { l.connections = 8 })
	for range 4 {
		if err := askOn(dialFrom(t, "127.0.0.66", address)); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		if err := askOn(dialFrom(t, "127.0.0.66", address)); err == nil {
			t.Fatal("one address has more than half of the connections")
		}
	}
	if err := askOn(dialFrom(t, "127.0.0.1", address)); err != nil {
		t.Errorf("another address: %v", err)
	}
}

// TestADetachedConnectionIsNotCounted: a WebSocket is counted by the handler, and takes no place of HTTP.
func TestADetachedConnectionIsNotCounted(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.(interface{ Detach() }).Detach()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
		t.Cleanup(func() { _ = conn.Close() })
	})
	address := served(t, Options{Handler: handler}, func(l *limits) { l.connections = 2 })
	for range 10 {
		if err := askOn(dialFrom(t, "127.0.0.1", address)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFullGatewayIsNotReady(t *testing.T) {
	s := New(Options{Addresses: []string{"127.0.0.1:0"}, Log: logr.Discard()})
	s.places = newPlaces(1, nil)
	s.serving.Store(true)
	if err := ready(s); err != nil {
		t.Error(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	accepted := make(chan net.Conn)
	go func() {
		conn, _ := listener{l, s.places, nil}.Accept()
		accepted <- conn
	}()
	dialFrom(t, "127.0.0.1", l.Addr().String())
	conn := <-accepted
	if ready(s) == nil {
		t.Error("it says that it is ready")
	}
	_ = conn.Close()
	_ = conn.Close() // A second time gives nothing back.
	testkit.Eventually(t, patience, func() error { return ready(s) })
	if len(s.places.of) != 0 {
		t.Errorf("counted still: %v", s.places.of)
	}
}
