// SPDX-License-Identifier: Apache-2.0

//go:build faults

package chaos

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// behindFor is how long a manager's cache stays as it is: longer than anything in it is trusted blindly.
const behindFor = 16 * time.Second

// TestLeaderBehind lets nothing new of Meetings through to the leader, while people meet through the other manager, and
// a meeting expires that was changed since.
func TestLeaderBehind(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	leader, other := p.leader(t)
	way := p.ways[0]
	if leader == p.managers[1] {
		way = p.ways[1]
	}
	due := p.byHand("due", func(m *v1alpha1.Meeting) { m.Spec.Duration = "20s" })
	long := p.byHand("long", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1h" })
	p.Create(t, due, long)
	p.eventually(t, p.lasts(due, "20s"))
	p.eventually(t, p.lasts(long, "1h"))
	release := make(chan struct{})
	var writes atomic.Int32
	way.Place(func(q *http.Request) testkit.Fault {
		if kubernetesWrite(q) != "" {
			writes.Add(1)
		}
		if isRead(q, "meetings") && isWatch(q) {
			return testkit.HoldBack(release)
		}
		return nil
	})
	way.CutAll()
	p.balancer.set(other.Addresses[0])
	// The leader writes something, and its cache does not show that.
	p.patch(t, p.config, `{"spec":{"meetings":{"maxDuration":"30m"}}}`)
	p.eventually(t, p.lasts(long, "30m"))
	sentAway := p.guest(t, "due", "")
	p.eventually(t, sentAway.isIn)
	p.patch(t, due, `{"metadata":{"annotations":{"touched":"yes"}}}`)
	if err := p.backend.open(t.Context(), map[string]any{"room": "unseen"}); err != nil {
		t.Fatal(err)
	}
	g := p.guest(t, "unseen", "")
	p.eventually(t, g.isIn)
	pause(t.Context(), behindFor)
	if entries, wrong := g.cameIn(); entries != 1 || wrong != "" || g.isOver() {
		t.Errorf("the guest came in %d times, was answered %q and sent away: %t", entries, wrong, g.isOver())
	}
	select {
	case <-sentAway.over:
	case <-time.After(patience):
		t.Error("a meeting is not over because the leader does not know that a participant has touched it")
	}
	if n := writes.Load(); n > 20 {
		t.Errorf("%d writes of a leader that is behind", n)
	}
	close(release)
	released := time.Now()
	p.eventually(t, p.occupied("unseen", 1))
	p.eventually(t, p.quiet)
	p.unbroken(t)
	summary.tried("a leader that is behind", "watch frames held back", behindFor.String(), !t.Failed(), time.Since(released))
}

// lasts says whether a Meeting is open and has a length.
func (w *world) lasts(m *v1alpha1.Meeting, length v1alpha1.Duration) func() error {
	return func() error {
		var now v1alpha1.Meeting
		err := w.Client.Get(context.Background(), client.ObjectKeyFromObject(m), &now)
		if err == nil && (now.Status.Phase != v1alpha1.MeetingActive || now.Status.Duration != length) {
			err = fmt.Errorf("%s is %s and lasts %s, want %s", m.Name, now.Status.Phase, now.Status.Duration, length)
		}
		return err
	}
}

// TestRestartIntoOlderCache has a manager start with Meetings as they were before one ended and another began, as it
// gets them from an API server that lags, and stay there for a while.
func TestRestartIntoOlderCache(t *testing.T) {
	t.Parallel()
	cluster := *testkit.ControlPlane(t)
	w := newWorld(t, &cluster, options{})
	open := func(room string) *guest {
		if err := w.backend.open(t.Context(), map[string]any{"room": room}); err != nil {
			t.Fatal(err)
		}
		g := w.guest(t, room, "")
		w.eventually(t, w.occupied(room, 1))
		return g
	}
	open("kept")
	was := open("over")
	var all v1alpha1.MeetingList
	if err := w.Client.List(t.Context(), &all, client.InNamespace(w.Namespace)); err != nil {
		t.Fatal(err)
	}
	if err := w.backend.end(t.Context(), "over"); err != nil {
		t.Fatal(err)
	}
	<-was.over
	w.eventually(t, w.quiet)
	begun := open("begun")

	w.manager.Kill()
	release := make(chan struct{})
	w.kubernetes.Place(older(all.ResourceVersion, release, nil))
	w.manager.Start(t)
	var writes atomic.Int32
	w.kubernetes.Place(older(all.ResourceVersion, release, func(q *http.Request) {
		if kubernetesWrite(q) != "" {
			writes.Add(1)
		}
	}))
	pause(t.Context(), behindFor)
	t.Logf("%d writes in %s", writes.Load(), behindFor)
	if n := writes.Load(); n > 100 {
		t.Errorf("%d writes in %s that came to nothing", n, behindFor)
	}
	close(release)
	released := time.Now()
	w.eventually(t, w.occupied("kept", 1))
	w.eventually(t, w.occupied("begun", 1))
	w.eventually(t, w.quiet)
	// Once when the manager was there, and once more after it was killed.
	if entries, wrong := begun.cameIn(); entries > 2 || wrong != "" || begun.isOver() {
		t.Errorf("the guest came in %d times, was answered %q and sent away: %t", entries, wrong, begun.isOver())
	}
	w.unbroken(t)
	summary.tried("a manager that is behind", "started with an older state", behindFor.String(), !t.Failed(), time.Since(released))
}

// older answers lists of Meetings with those of a version, and holds back what came after it.
func older(version string, release <-chan struct{}, seen func(*http.Request)) func(*http.Request) testkit.Fault {
	unknown := testkit.Refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, nil)
	return func(q *http.Request) testkit.Fault {
		if seen != nil {
			seen(q)
		}
		if !isRead(q, "meetings") {
			return nil
		}
		select {
		case <-release:
			return nil
		default:
		}
		switch query := q.URL.Query(); {
		case query.Get("sendInitialEvents") != "":
			return unknown // clients then list
		case isWatch(q):
			return testkit.HoldBack(release)
		case query.Get("fieldSelector") != "" || query.Get("limit") == "1" || strings.Contains(q.Header.Get("Accept"), "PartialObjectMetadata"):
			return nil // asked for what is so now, past any cache
		default:
			return func(rw http.ResponseWriter, r *http.Request, pass http.Handler) {
				query.Set("resourceVersion", version)
				query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
				r.URL.RawQuery = query.Encode()
				pass.ServeHTTP(rw, r)
			}
		}
	}
}

// isIn says whether the guest has come in.
func (g *guest) isIn() error {
	if entries, wrong := g.cameIn(); entries == 0 {
		return fmt.Errorf("the guest is not in yet: %q", wrong)
	}
	return nil
}
