// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// balancerPeriod is how often a Balancer asks its servers whether they are ready.
const balancerPeriod = 100 * time.Millisecond

// Balancer passes each request on to the next of the servers that say that they are ready, as an ingress does. It looks now and
// then, and until it has looked it sends to those that were ready before.
type Balancer struct {
	// URL (http) of its first address.
	URL string

	mu    sync.Mutex
	all   []balanced
	ready []*url.URL
	next  int
}

// balanced is a server behind a Balancer.
type balanced struct {
	url *url.URL
	// health answers 200 while the server is ready.
	health string
}

// NewBalancer listens on addresses, or on a free port, for servers that are added later. It ends with the test.
func NewBalancer(t testing.TB, addresses ...string) *Balancer {
	t.Helper()
	b := &Balancer{}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(b.pick())
			r.Out.Host = r.In.Host
		},
		ErrorLog: log.New(io.Discard, "", 0), // Tests take servers away.
	}}
	if len(addresses) == 0 {
		addresses = []string{"127.0.0.1:0"}
	}
	for _, address := range addresses {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if b.URL == "" {
			b.URL = "http://" + l.Addr().String()
		}
		go func() { _ = server.Serve(l) }()
	}
	t.Cleanup(func() { _ = server.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go b.follow(ctx)
	return b
}

// Add puts a server behind the Balancer. It gets requests once its health address answers 200.
func (b *Balancer) Add(t testing.TB, at, health string) {
	t.Helper()
	to, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, balanced{to, health})
}

// Ready is nil once the Balancer sends requests to so many servers.
func (b *Balancer) Ready(n int) func() error {
	return func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.ready) != n {
			return fmt.Errorf("%d servers are ready", len(b.ready))
		}
		return nil
	}
}

func (b *Balancer) follow(ctx context.Context) {
	tick := time.NewTicker(balancerPeriod)
	defer tick.Stop()
	for {
		b.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (b *Balancer) look(ctx context.Context) {
	b.mu.Lock()
	all := slices.Clone(b.all)
	b.mu.Unlock()
	var ready []*url.URL
	for _, one := range all {
		if answersOK(ctx, one.health) {
			ready = append(ready, one.url)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = ready
}

func answersOK(ctx context.Context, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (b *Balancer) pick() *url.URL {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		return &url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	}
	b.next++
	return b.ready[b.next%len(b.ready)]
}
