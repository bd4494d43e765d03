// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"net"
	"sync"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// balancer is the Service in front of several managers: it passes connections on to those that it is told are up.
type balancer struct {
	address string

	mu       sync.Mutex
	up       []string
	next     int
	balanced map[string][]net.Conn
}

func newBalancer(t testing.TB) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{address: l.Addr().String(), balanced: map[string][]net.Conn{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(c)
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return b
}

// set says who is up. The connections of those that are not any more end, as they do when a pod is gone.
func (b *balancer) set(up ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.up = up
	still := map[string]bool{}
	for _, to := range up {
		still[to] = true
	}
	for to, all := range b.balanced {
		if !still[to] {
			for _, c := range all {
				_ = c.Close()
			}
			delete(b.balanced, to)
		}
	}
}

func (b *balancer) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	b.mu.Lock()
	if len(b.up) == 0 {
		b.mu.Unlock()
		return
	}
	b.next++
	to := b.up[b.next%len(b.up)]
	b.balanced[to] = append(b.balanced[to], c)
	b.mu.Unlock()
	upstream, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	testkit.Relay(c, upstream)
}
