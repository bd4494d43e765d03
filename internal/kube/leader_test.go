// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func TestLeasesFollowFromWhatIsServed(t *testing.T) {
	for served, want := range map[string]string{"": "controllers.convene.dev", "team-a": "team-a.controllers.convene.dev"} {
		if got := LeaseName(served); got != want {
			t.Errorf("for %q it is %s, want %s", served, got, want)
		}
	}
}

// lease is a Lease in memory, with errors on demand.
type lease struct {
	resourcelock.Interface
	record           *resourcelock.LeaderElectionRecord
	getErr, writeErr error
}

func (*lease) Describe() string { return "home/lease" }
func (*lease) Identity() string { return "me" }

func (l *lease) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if l.getErr != nil {
		return nil, nil, l.getErr
	}
	if l.record == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, "lease")
	}
	raw, err := json.Marshal(l.record)
	return l.record, raw, err
}

func (l *lease) Create(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(context.Background(), r)
}

func (l *lease) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	if l.writeErr == nil {
		l.record = &r
	}
	return l.writeErr
}

const term = 15 * time.Second

// election is a Leader whose manager looks at the Lease every two seconds, as the election does.
type election struct {
	*Leader
	lease *lease
	log   strings.Builder
	term  int
}

func newElection() *election {
	e := &election{lease: &lease{}}
	log := funcr.New(func(_, line string) { e.log.WriteString(line + "\n") }, funcr.Options{})
	e.Leader = newLeader(e.lease, LeaderOptions{Grace: term, Log: log})
	return e
}

// looks lets time pass, in which the election looks at the Lease and another manager may renew it.
func (e *election) looks(t *testing.T, d time.Duration, renewed bool) {
	for range d / (2 * time.Second) {
		if renewed {
			e.term++
			e.lease.record = &resourcelock.LeaderElectionRecord{HolderIdentity: "another", LeaseDurationSeconds: 15, LeaderTransitions: e.term}
		}
		if _, _, _ = e.Get(t.Context()); e.lease.writeErr != nil {
			_ = e.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"})
		}
		time.Sleep(2 * time.Second) //nolint:forbidigo // The bubble's time.
	}
}

func (e *election) check(t *testing.T) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil)
	return e.Check(r)
}

// TestReadyWhileSomebodyLeads: a Leader follows the Lease, however it is that somebody, or nobody, holds it.
func TestReadyWhileSomebodyLeads(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "lease", errors.New("no rights"))
	away := errors.New("connection refused")
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 15}
	for name, c := range map[string]struct {
		during func(t *testing.T, e *election)
		// want is what the check's error says; "" means ready.
		want string
	}{
		"nobody ever": {func(t *testing.T, e *election) { e.looks(t, time.Minute, false) }, "no replica acquires the Lease"},
		"refused from the start": {func(t *testing.T, e *election) {
			e.lease.getErr = forbidden
			e.looks(t, time.Minute, false)
		}, "no rights"},
		"this one": {func(t *testing.T, e *election) { _ = e.Create(t.Context(), mine) }, ""},
		"another":  {func(t *testing.T, e *election) { e.looks(t, time.Minute, true) }, ""},
		"a Lease left behind": {func(t *testing.T, e *election) {
			e.lease.record = &resourcelock.LeaderElectionRecord{HolderIdentity: "gone", LeaseDurationSeconds: 15}
			e.looks(t, term, false)
		}, ""},
		"another, until it is killed": {func(t *testing.T, e *election) {
			e.looks(t, time.Minute, true)
			e.looks(t, 20*time.Second, false)
		}, ""},
		"another, and then nobody": {func(t *testing.T, e *election) {
			e.looks(t, time.Minute, true)
			e.looks(t, 40*time.Second, false)
		}, "no replica acquires the Lease"},
		"this one, and then its renewals are refused": {func(t *testing.T, e *election) {
			_ = e.Create(t.Context(), mine)
			e.lease.writeErr = forbidden
			_ = e.Update(t.Context(), mine)
			e.looks(t, 40*time.Second, false)
		}, "no rights"},
		"this one, that gives it up": {func(t *testing.T, e *election) {
			_ = e.Create(t.Context(), mine)
			_ = e.Update(t.Context(), resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1})
			e.looks(t, 40*time.Second, false)
		}, "no replica acquires the Lease"},
		"another, and then the API server does not answer": {func(t *testing.T, e *election) {
			e.looks(t, time.Minute, true)
			e.lease.getErr = away
			e.looks(t, time.Hour, false)
		}, ""},
		"the cluster is back, and nobody leads": {func(t *testing.T, e *election) {
			e.looks(t, time.Minute, true)
			e.lease.getErr = away
			e.looks(t, time.Hour, false)
			e.lease.getErr = nil
			e.looks(t, 20*time.Second, false)
		}, "no replica acquires the Lease"},
		"a term of an hour": {func(t *testing.T, e *election) {
			e.lease.record = &resourcelock.LeaderElectionRecord{HolderIdentity: "another", LeaseDurationSeconds: 3600}
			e.looks(t, 50*time.Minute, false)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newElection()
				c.during(t, e)
				err := e.check(t)
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Fatalf("the check says %v, want %q", err, c.want)
				}
				_ = e.check(t)
				if told := strings.Count(e.log.String(), `"Not ready"`); told != min(len(c.want), 1) {
					t.Errorf("%d lines of the log say so:\n%s", told, &e.log)
				}
				if c.want != "" {
					e.lease.getErr, e.lease.writeErr = nil, nil
					e.looks(t, 2*time.Second, true)
					if err := e.check(t); err != nil || !strings.Contains(e.log.String(), "leads again") {
						t.Errorf("when a manager leads again the check says %v, and the log:\n%s", err, &e.log)
					}
				}
			})
		})
	}
}

// A check that comes before the first election waits for it.
func TestTheFirstCheckWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newElection()
		time.AfterFunc(time.Second/2, func() {
			_ = e.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 15})
		})
		if err := e.check(t); err != nil {
			t.Error(err)
		}
	})
}
