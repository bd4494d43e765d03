// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"convene.dev/convene/internal/clientip"
)

// places bounds the HTTP connections of all listeners together. A connection over the bound waits until another one closes.
// No address has more than half of them, so that one client cannot keep out all others; trusted proxies have no such
// bound, because their connections are those of many clients.
type places struct {
	taken   chan struct{}
	proxies clientip.Proxies

	mu sync.Mutex
	// of counts the connections of each address.
	of map[netip.Addr]int
}

func newPlaces(most int, proxies clientip.Proxies) *places {
	return &places{taken: make(chan struct{}, most), proxies: proxies, of: map[netip.Addr]int{}}
}

// isFull reports whether the next connection has to wait.
func (p *places) isFull() bool { return len(p.taken) == cap(p.taken) }

// enter counts a connection whose place is taken already, unless its address has too many.
func (p *places) enter(from netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.proxies.Trust(from) && p.of[from] >= (cap(p.taken)+1)/2 {
		return false
	}
	p.of[from]++
	return true
}

func (p *places) leave(from netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[from]--; p.of[from] == 0 {
		delete(p.of, from)
	}
	<-p.taken
}

type listener struct {
	net.Listener
	places *places
	// tls is nil for connections without TLS.
	tls *tls.Config
}

// Accept waits for a connection, then for a place. One of an address that has too many is closed.
func (l listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.places.taken <- struct{}{}
		from := addressOf(conn)
		if !l.places.enter(from) {
			<-l.places.taken
			_ = conn.Close()
			continue
		}
		if l.tls != nil {
			conn = tls.Server(conn, l.tls)
		}
		return &connection{Conn: conn, leave: sync.OnceFunc(func() { l.places.leave(from) })}, nil
	}
}

func addressOf(conn net.Conn) netip.Addr {
	tcp, _ := conn.RemoteAddr().(*net.TCPAddr)
	return tcp.AddrPort().Addr().Unmap()
}

// maxHeaderLines bounds the lines of a request and its headers, as Apache and Envoy do. net/http bounds their bytes alone, and
// keeps some 200 bytes for a header of four.
const maxHeaderLines = 100

// connection is what net/http reads requests from: TLS is inside. net/http reads in one goroutine at a time.
type connection struct {
	net.Conn
	leave func()
	// idle closes the connection; nil before its state is known, and of a proxy.
	idle *time.Timer
	// answering says that the headers of a request are read, and that the next ones have not begun.
	answering bool
	// lines are those of the headers so far. ahead are those that were read last behind headers, of a body or of the next request.
	lines, ahead int
}

// Read refuses headers of too many lines.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if plain := (tls.RecordHeaderError{}); errors.As(err, &plain) && plain.Conn != nil {
		refuse(plain.Conn, http.StatusBadRequest, "Use https: this port speaks TLS")
	}
	rest := p[:n]
	if !c.answering {
		var headers []byte
		headers, rest = cutHeaders(rest)
		if c.lines += bytes.Count(headers, newline); c.lines > maxHeaderLines {
			refuse(c.Conn, http.StatusRequestHeaderFieldsTooLarge, fmt.Sprintf("Send at most %d lines of headers", maxHeaderLines))
			return 0, &net.OpError{Op: "read", Err: errors.New("too many lines of headers")}
		}
	}
	if len(p) > 1 { // With one byte net/http waits for a client to go, and what was read last stays in its buffer.
		c.ahead = 0
	}
	c.ahead += bytes.Count(rest, newline)
	return n, err
}

// answered says that the next request may come. Its headers may have been read with this one's body. Where they could be many, the
// connection ends: clients that send one request at a time open another.
func (c *connection) answered() {
	c.answering, c.lines = false, 0
	if c.ahead > maxHeaderLines {
		_ = c.Close()
	}
}

var newline = []byte("\n")

// cutHeaders cuts what was read at the empty line behind the headers. Where it is not seen, because it came in two pieces, more is
// counted than there is.
func cutHeaders(read []byte) (headers, rest []byte) {
	end := len(read)
	for _, empty := range []string{"\n\n", "\n\r\n"} {
		if at := bytes.Index(read[:end], []byte(empty)); at >= 0 {
			end = at + 1
		}
	}
	return read[:end], read[end:]
}

// refuse answers a request that is not read to its end. The client may see the end of the connection before the answer.
func refuse(conn net.Conn, status int, message string) {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s\n",
		status, http.StatusText(status), len(message)+1, message)
}

func (c *connection) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// Detach gives the place to another connection, while this one goes on as something that is counted elsewhere.
func (c *connection) Detach() { c.leave() }
