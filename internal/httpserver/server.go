// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/limit"
)

// limits hold off clients that are slow, or many. Bodies are small; WebSockets leave the server's hands once upgraded, and
// the handler counts them.
type limits struct {
	// read is for a request's headers and body together. It is more than a handler takes at most, because it ends the handler's context.
	read, write time.Duration
	// idle is for clients, proxyIdle for trusted proxies.
	idle, proxyIdle time.Duration
	// headerBytes is for the request line and all headers.
	headerBytes int
	// connections over all addresses that are listened on.
	connections int
}

const (
	// connectionMemory is what a hostile connection takes, in bytes, which holds back the last byte of the longest headers
	// and body; an idle one takes a tenth of it. encryptedMemory is of one with TLS, where it is the longest hello that counts.
	// connectionShare is the share of the memory for all of them.
	connectionMemory, encryptedMemory, connectionShare = 64 << 10, 128 << 10, 0.25
	// maxConnections is how many there may be where the memory has no limit.
	maxConnections = 1 << 15
	// startPatience is less than what the pod's startup probe waits for an answer.
	startPatience = 8 * time.Second
)

var defaultLimits = limits{
	read: 15 * time.Second, write: time.Minute, idle: time.Minute,
	headerBytes: 16 << 10,
}

// DefaultProxyIdleTimeout is more than the 600 s for which the load balancers of the large clouds keep an idle connection.
const DefaultProxyIdleTimeout = 620 * time.Second

// Options are what a Server needs.
type Options struct {
	// Addresses to listen on, host:port. All serve the same.
	Addresses []string
	Handler   http.Handler
	// CertFile and KeyFile are of the certificate (PEM) with which TLS is served on every address. They are read again when
	// they change. Both empty: no TLS.
	CertFile, KeyFile string
	// Ready is closed when requests can be answered; until then the server does not listen. Nil means at once.
	Ready <-chan struct{}
	// Leads is a further readiness check: its error says why no replica leads. It may wait until the request's context ends. Nil means
	// that no replica has to lead.
	Leads func(*http.Request) error
	// DrainDelay is how long the server goes on listening after it has said that it is not ready, so that load
	// balancers stop sending; DrainTimeout bounds the wait for requests under way.
	DrainDelay, DrainTimeout time.Duration
	// TrustedProxies may have any number of the connections, and keep each for ProxyIdleTimeout without a request. Others keep theirs
	// for a minute. Where the server closes before the proxy does, the proxy may just be sending a request, and answers it with 502.
	// Zero means DefaultProxyIdleTimeout.
	TrustedProxies   clientip.Proxies
	ProxyIdleTimeout time.Duration
	Log              logr.Logger
}

// Server is the gateway.
type Server struct {
	Options
	limits  limits
	serving atomic.Bool
	// started is closed when the server listens, or will not.
	started chan struct{}
	places  *places
}

// New makes a Server.
func New(o Options) *Server {
	l := defaultLimits
	l.proxyIdle = cmp.Or(o.ProxyIdleTimeout, DefaultProxyIdleTimeout)
	memory := int64(connectionMemory)
	if o.CertFile != "" {
		memory = encryptedMemory
	}
	l.connections = limit.FitsMemory(connectionShare, memory, maxConnections)
	return &Server{Options: o, limits: l, started: make(chan struct{})}
}

// NeedLeaderElection is false: every replica serves.
func (s *Server) NeedLeaderElection() bool { return false }

// Check is the readiness check: the server listens, is not about to stop, and takes new connections. While the server starts
// it waits: a probe that fails would be a Warning at each start of a pod.
func (s *Server) Check(r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), startPatience)
	defer cancel()
	if !s.serving.Load() {
		select {
		case <-s.started:
		case <-ctx.Done():
		}
	}
	if !s.serving.Load() {
		return errors.New("the gateway does not listen")
	}
	if s.places.isFull() {
		return errors.New("the gateway has as many connections as fit into its memory")
	}
	if s.Leads != nil {
		return s.Leads(r.WithContext(ctx))
	}
	return nil
}

// Start listens until the context ends, then drains.
func (s *Server) Start(ctx context.Context) error {
	started := sync.OnceFunc(func() { close(s.started) })
	defer started()
	if s.Ready != nil {
		select {
		case <-s.Ready:
		case <-ctx.Done():
			return nil
		}
	}
	server := s.server()
	var all errgroup.Group
	var encrypt *tls.Config
	if s.CertFile != "" {
		certificates, err := s.certificates()
		if err != nil {
			return err
		}
		all.Go(func() error { return certificates.Start(ctx) })
		encrypt = tlsConfig(certificates)
	}
	s.places = newPlaces(s.limits.connections, s.TrustedProxies)
	listeners, err := s.listen(ctx, encrypt)
	if err != nil {
		return err
	}
	for _, l := range listeners {
		s.Log.Info("Listening", "address", l.Addr().String(), "tls", s.CertFile != "")
		all.Go(func() error {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
	}
	s.serving.Store(true)
	started()
	all.Go(func() error {
		<-ctx.Done()
		return s.drain(server)
	})
	return all.Wait()
}

func (s *Server) server() *http.Server {
	return &http.Server{
		Handler:        http.HandlerFunc(s.answer),
		ReadTimeout:    s.limits.read,
		WriteTimeout:   s.limits.write,
		IdleTimeout:    s.limits.proxyIdle,
		ConnState:      s.whenStateChanges,
		MaxHeaderBytes: s.limits.headerBytes,
		// What clients do wrong is in the log with --verbose only.
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(s.Log.V(1)), slog.LevelInfo),
	}
}

// ReadyPath is the same on every host: a load balancer asks there by address, and knows of no tenants.
const ReadyPath = "/readyz"

// answer tells readiness itself, and leaves all else to the handler.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	// net/http would read a body that nobody asked for, and its trailers, and hold them while it answers.
	unread := len(r.TransferEncoding) > 0 && (r.Method == http.MethodGet || r.Method == http.MethodHead)
	// A proxy would send its next request into a connection that is about to be shut.
	draining := !s.serving.Load() && r.Header.Get("Upgrade") == ""
	if unread || draining {
		w.Header().Set("Connection", "close")
	}
	if r.URL.Path != ReadyPath {
		s.Handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
	case s.Check(r) != nil:
		http.Error(w, "not ready", http.StatusServiceUnavailable)
	default:
		_, _ = io.WriteString(w, "ok\n") // An error means that the client has gone.
	}
}

// whenStateChanges notes whether headers are read, and closes connections of clients that have been idle for long. The server's own
// time-out is the one for proxies.
func (s *Server) whenStateChanges(conn net.Conn, state http.ConnState) {
	c := conn.(*connection)
	switch state {
	case http.StateActive:
		c.answering = true
	case http.StateIdle:
		c.answered()
	}
	if s.TrustedProxies.Trust(addressOf(conn)) {
		return
	}
	if c.idle == nil {
		c.idle = time.AfterFunc(s.limits.idle, func() { _ = conn.Close() })
	}
	if state == http.StateIdle {
		c.idle.Reset(s.limits.idle)
	} else {
		c.idle.Stop()
	}
}

func (s *Server) listen(ctx context.Context, encrypt *tls.Config) (listeners []net.Listener, err error) {
	for _, address := range s.Addresses {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("the gateway cannot listen on %s: %w", address, err)
		}
		listeners = append(listeners, listener{l, s.places, encrypt})
	}
	return listeners, nil
}

// drain says that the server is not ready, waits until no client sends any more, and lets what is under way finish.
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
