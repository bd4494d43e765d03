// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// LeaseName is the Lease of the managers that serve a namespace, or all of them for "". Managers that serve something else have
// another Lease, so that one installation in a namespace does not keep another from leading.
func LeaseName(served string) string {
	const all = "controllers.convene.dev"
	if served == "" {
		return all
	}
	return served + "." + all
}

// LeaderOptions of a Leader.
type LeaderOptions struct {
	// Config of the cluster. Namespace is the one of the Lease, Served what the manager serves: a namespace, or all for "".
	Config            *rest.Config
	Namespace, Served string
	// RenewDeadline is the elections'.
	RenewDeadline time.Duration
	// Grace is how long after the end of a term another one may take to begin.
	Grace time.Duration
	Log   logr.Logger
}

// Leader is the lock for which managers are elected. It sees what the election sees, so it knows whether any manager leads.
type Leader struct {
	resourcelock.Interface
	grace time.Duration
	log   logr.Logger
	// seen is closed when a term has been seen.
	seen chan struct{}

	mu sync.Mutex
	// termEnds is when the last term that was seen ends, unless its holder renews it. Zero: none has been seen.
	termEnds time.Time
	// record is the Lease's as it was read last.
	record []byte
	// cause of there being no term, as the API server told it.
	cause error
	// told is whether the log has it that nobody leads.
	told bool
}

// NewLeader makes the lock. An error means that the configuration is wrong; the cluster is not asked.
func NewLeader(o LeaderOptions) (*Leader, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, o.Namespace, LeaseName(o.Served),
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}, o.Config, o.RenewDeadline)
	if err != nil {
		return nil, err
	}
	return newLeader(lock, o), nil
}

func newLeader(lock resourcelock.Interface, o LeaderOptions) *Leader {
	return &Leader{Interface: lock, grace: o.Grace, log: o.Log, seen: make(chan struct{})}
}

// Get reads the Lease.
func (l *Leader) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed(err)
		return record, raw, err
	}
	if !bytes.Equal(raw, l.record) {
		l.record = raw
		if holder := record.HolderIdentity; holder != "" && holder != l.Identity() { // Its own terms begin with its writes.
			l.began(record)
		}
	}
	return record, raw, nil
}

// Create makes the Lease with this manager as its holder.
func (l *Leader) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.wrote(record, l.Interface.Create(ctx, record))
}

// Update takes, renews or releases the Lease.
func (l *Leader) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.wrote(record, l.Interface.Update(ctx, record))
}

func (l *Leader) wrote(record resourcelock.LeaderElectionRecord, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.failed(err)
	case record.HolderIdentity != "":
		l.began(&record)
	}
	return err
}

// began: somebody leads for as long as the Lease says.
func (l *Leader) began(record *resourcelock.LeaderElectionRecord) {
	if l.termEnds.IsZero() {
		close(l.seen)
	}
	l.termEnds = time.Now().Add(time.Duration(record.LeaseDurationSeconds) * time.Second)
	l.cause = nil
	if l.told {
		l.log.Info("A manager leads again", "holder", record.HolderIdentity)
		l.told = false
	}
}

// failed: while the API server does not answer, nobody can know who leads, and what is served from the cache goes on.
func (l *Leader) failed(err error) {
	switch AnswerOf(err) {
	case Unreachable, Busy:
		if !l.termEnds.IsZero() && l.termEnds.Before(time.Now()) {
			l.termEnds = time.Now()
		}
	case Refused:
		l.cause = err
	}
}

// Check is a readiness check: its error says why no manager leads the namespaces that this one serves. While none has led yet, Check
// waits for as long as the request may take.
func (l *Leader) Check(r *http.Request) error {
	select {
	case <-l.seen:
	case <-r.Context().Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.termEnds.IsZero() && time.Now().Before(l.termEnds.Add(l.grace)) {
		return nil
	}
	cause := l.cause
	if cause == nil {
		cause = errors.New("no replica acquires the Lease")
	}
	err := fmt.Errorf("no leader (Lease %s): %w", l.Describe(), cause)
	if !l.told {
		l.log.Error(err, "Not ready")
		l.told = true
	}
	return err
}
