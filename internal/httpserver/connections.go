// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net"
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
		if l.places.enter(from) {
			return &connection{Conn: conn, leave: sync.OnceFunc(func() { l.places.leave(from) })}, nil
		}
		<-l.places.taken
		_ = conn.Close()
	}
}

func addressOf(conn net.Conn) netip.Addr {
	tcp, _ := conn.RemoteAddr().(*net.TCPAddr)
	return tcp.AddrPort().Addr().Unmap()
}

type connection struct {
	net.Conn
	leave func()
	// idle closes the connection; nil before its state is known, and of a proxy.
	idle *time.Timer
}

func (c *connection) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// Detach gives the place to another connection, while this one goes on as something that is counted elsewhere.
func (c *connection) Detach() { c.leave() }
