// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// balancer passes requests on to the servers that say that they are ready, as a Service does: it looks now and then,
// and until it has looked it sends to those that were ready before.
type balancer struct {
	mu    sync.Mutex
	all   []backend
	ready []*url.URL
	next  int
}

// backend is a server behind a balancer.
type backend struct {
	url *url.URL
	// health answers 200 while the server is ready.
	health string
}

// newBalancer is the address of servers that are added later.
func newBalancer(t *testing.T) (*balancer, string) {
	t.Helper()
	b := &balancer{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(b.pick())
		r.Out.Host = r.In.Host
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go b.look(ctx)
	return b, server.URL
}

func (b *balancer) add(t *testing.T, at, health string) {
	t.Helper()
	to, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, backend{to, health})
}

func (b *balancer) look(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
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
		b.ready = ready
		b.mu.Unlock()
	}
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

func (b *balancer) pick() *url.URL {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		return &url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	}
	b.next++
	return b.ready[b.next%len(b.ready)]
}

// readyAre is nil once so many servers are sent to.
func (b *balancer) readyAre(n int) func() error {
	return func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.ready) != n {
			return fmt.Errorf("%d servers are ready", len(b.ready))
		}
		return nil
	}
}
