// SPDX-License-Identifier: Apache-2.0

// Package replicas lets each replica learn what the others know, so that it can wait until its own cache shows that
// too. A replica says in a Lease where it can be asked, as API servers do among themselves (KEP-1965).
package replicas

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/labels"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

const (
	labelIdentity     = "convene.dev/identity"
	identity          = "manager"
	annotationAddress = "convene.dev/replica-address"
)

const (
	// leaseDuration is after how long without a renewal a replica is taken for dead.
	leaseDuration = 15 * time.Second
	renewInterval = leaseDuration / 3
	// leftOver is after how long without a renewal the Lease of a replica that was killed is deleted, sweepEvery how often
	// this replica looks for those.
	leftOver   = time.Minute
	sweepEvery = 15 * time.Second
	// linger is how long a replica that has served its last request can still be asked what it confirmed with it.
	linger = 500 * time.Millisecond
	// requestTimeout and maxHeader (bytes) are far more than a question needs.
	requestTimeout = 5 * time.Second
	maxHeader      = 4 << 10
)

// Leases selects those of replicas.
func Leases() labels.Selector { return labels.SelectorFromSet(labels.Set{labelIdentity: identity}) }

// Options are what a Group needs.
type Options struct {
	// Cache tells of the Leases.
	Cache cache.Cache
	// Client writes this replica's own.
	Client coordinationv1client.CoordinationV1Interface
	// Namespace of the Leases.
	Namespace string
	// Host is the address (IP) at which the others reach this replica; empty means 127.0.0.1. Port may be 0 for any.
	Host string
	Port int
	Log  logr.Logger
}

// Group is the other replicas, as this one knows them.
type Group struct {
	Options
	name   string
	joined chan struct{}
	join   sync.Once
	others others
	rounds rounds
	outbox *outbox
}

// New makes a Group. It has no member until this replica's own runs.
func New(o Options) *Group {
	g := &Group{Options: o, name: "manager-" + uuid.NewString(), joined: make(chan struct{}), outbox: newOutbox()}
	g.rounds.ask = g.askAll
	return g
}

// Joined is closed when the others can know of this replica. It should serve no sooner.
func (g *Group) Joined() <-chan struct{} { return g.joined }

// lease is kept while this replica runs, and deleted when it stops.
func (g *Group) lease(address string) lease.Controller {
	return lease.NewController(clock.RealClock{}, clientset{leases: g.Client}, g.name, int32(leaseDuration/time.Second), nil, renewInterval, g.name, g.Namespace,
		func(l *coordinationv1.Lease) error {
			l.Labels = map[string]string{labelIdentity: identity}
			l.Annotations = map[string]string{annotationAddress: address}
			return nil
		})
}
