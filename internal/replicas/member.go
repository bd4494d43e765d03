// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Answers are what a Member tells the others, and takes from them.
type Answers struct {
	// Known is the newest version of a Meeting that this replica has shown or confirmed to a caller.
	Known func() uint64
	// Hinted is told of each room in which another replica heard that something happened.
	Hinted func(room string)
	// Served is closed when this replica has answered its last request.
	Served <-chan struct{}
}

// Member is this replica in a Group: while it runs, the others know of it and can ask it, and the Group follows the others.
type Member struct {
	*Group
	Answers
}

// NewMember makes the Member of this replica.
func NewMember(g *Group, a Answers) *Member { return &Member{Group: g, Answers: a} }

// NeedLeaderElection is false: every replica is in the Group.
func (*Member) NeedLeaderElection() bool { return false }

// Start answers the others, until this replica has served its last request after the context has ended.
func (m *Member) Start(ctx context.Context) error {
	address := net.JoinHostPort(cmp.Or(m.Host, "127.0.0.1"), strconv.Itoa(m.Port))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: m.handler(), MaxHeaderBytes: maxHeader,
		ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, IdleTimeout: time.Minute,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()

	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if err := m.watch(ctx); err != nil {
		return errors.Join(err, server.Close())
	}
	ours := m.lease(listener.Addr().String())
	go ours.Run(serving)
	go wait.UntilWithContext(serving, m.sweep, sweepEvery)
	go m.sendHints(serving)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	<-m.Served
	time.Sleep(linger)
	stop()
	ours.Stop()
	return server.Close()
}

// handler answers the other replicas.
func (m *Member) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+hintsPath, m.receiveHints)
	mux.HandleFunc("/", m.answer)
	return mux
}

// answer tells any other what this replica knows. The number is no secret, and nothing is read from the request.
func (m *Member) answer(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write(strconv.AppendUint(nil, m.Known(), 10))
}
