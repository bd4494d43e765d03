// SPDX-License-Identifier: Apache-2.0

// Package gateway is the HTTP server in the manager binary: it listens, sends API requests one way and everything
// else the other, and drains when it stops. It runs on every replica.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
)

const (
	// The time-outs hold slow clients off. Bodies are small; WebSockets leave the server's hands once upgraded.
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
)

// Options are what a Server needs.
type Options struct {
	// Addresses to listen on, host:port. All serve the same.
	Addresses []string
	Handler   http.Handler
	// Ready is closed when requests can be answered; until then the server does not listen.
	Ready <-chan struct{}
	// DrainDelay is how long the server goes on listening after it has said that it is not ready, so that load
	// balancers stop sending; DrainTimeout bounds the wait for requests under way.
	DrainDelay, DrainTimeout time.Duration
	Log                      logr.Logger
}

// Server is the gateway.
type Server struct {
	Options
	serving atomic.Bool
}

// New makes a Server.
func New(o Options) *Server { return &Server{Options: o} }

// NeedLeaderElection is false: every replica serves.
func (s *Server) NeedLeaderElection() bool { return false }

// Check is the readiness check: the server listens and is not about to stop.
func (s *Server) Check(*http.Request) error {
	if !s.serving.Load() {
		return errors.New("the gateway does not listen")
	}
	return nil
}

// Start listens until the context ends, then drains.
func (s *Server) Start(ctx context.Context) error {
	select {
	case <-s.Ready:
	case <-ctx.Done():
		return nil
	}
	server := &http.Server{
		Handler:           s.Handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          quietLogger(s.Log),
	}
	var listeners []net.Listener
	for _, address := range s.Addresses {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("the gateway cannot listen on %s: %w", address, err)
		}
		listeners = append(listeners, l)
	}
	var all errgroup.Group
	for _, l := range listeners {
		s.Log.Info("Listening", "address", l.Addr().String())
		all.Go(func() error {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
	}
	s.serving.Store(true)
	all.Go(func() error {
		<-ctx.Done()
		return s.drain(server)
	})
	return all.Wait()
}

// drain says that the server is not ready, waits until nobody sends any more, and lets what is under way finish.
func (s *Server) drain(server *http.Server) error {
	s.serving.Store(false)
	time.Sleep(s.DrainDelay)
	ctx, cancel := context.WithTimeout(context.Background(), s.DrainTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return server.Close()
	}
	return nil
}
