// SPDX-License-Identifier: Apache-2.0

//go:build faults

package chaos

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/internal/testkit"
)

// failedReads is how many reads of each kind of object fail in a row.
const failedReads = 3

// gone is a watch that is told, in the middle, that it has to begin again.
func gone(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`)
}

// TestInformersSuffer breaks every watch in the middle of a story, and the first reads that try to fix that.
func TestInformersSuffer(t *testing.T) {
	t.Parallel()
	all := []struct {
		name  string
		fault testkit.Fault
	}{
		{"410 in a watch", gone},
		{"410", testkit.Refuse(http.StatusGone, metav1.StatusReasonExpired, nil)},
		{"409", testkit.Refuse(http.StatusConflict, metav1.StatusReasonConflict, nil)},
		{"429", testkit.Refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, http.Header{"Retry-After": {"1"}})},
		{"500", testkit.Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, nil)},
		{"503", testkit.Refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, nil)},
		{"reset", testkit.Reset},
		{"hang", testkit.Hang},
	}
	cluster := *testkit.ControlPlane(t)
	w := newWorld(t, &cluster, options{})
	s := stories[0]
	undisturbed, _, usual := w.tell(t, s, "undisturbed", "", nil)
	for i, f := range all {
		t.Run(f.name, func(t *testing.T) {
			var mu sync.Mutex
			failed := map[string]int{}
			w.reads = func(q *http.Request) testkit.Fault {
				mu.Lock()
				defer mu.Unlock()
				if failed[q.URL.Path]++; failed[q.URL.Path] > failedReads {
					return nil
				}
				return f.fault
			}
			defer func() { w.reads = nil }()
			cut := time.AfterFunc(usual/4, w.kubernetes.CutAll)
			defer cut.Stop()
			o, _, took := w.tell(t, s, fmt.Sprint("run", i), "", nil)
			if diff := cmp.Diff(undisturbed, o); diff != "" {
				t.Errorf("it ended otherwise (-undisturbed +disturbed):\n%s", diff)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(failed) == 0 {
				t.Error("no read failed")
			}
			summary.tried(s.name, "all watches cut, then "+f.name, fmt.Sprintf("%d kinds of reads", len(failed)), !t.Failed(), max(0, took-usual))
		})
	}
}

// TestWatchesHeldBack lets nothing new of anything through to the manager for a while, in which the story goes on as
// far as it can.
func TestWatchesHeldBack(t *testing.T) {
	t.Parallel()
	const held = time.Minute
	cluster := *testkit.ControlPlane(t)
	w := newWorld(t, &cluster, options{})
	s := stories[0]
	undisturbed, _, usual := w.tell(t, s, "undisturbed", "", nil)
	release := make(chan struct{})
	w.reads = func(q *http.Request) testkit.Fault {
		if isWatch(q) {
			return testkit.HoldBack(release)
		}
		return nil
	}
	cut := time.AfterFunc(usual/4, func() {
		w.kubernetes.CutAll()
		time.AfterFunc(held, func() { close(release) })
	})
	defer cut.Stop()
	o, _, took := w.tell(t, s, "held", "", nil)
	if diff := cmp.Diff(undisturbed, o); diff != "" {
		t.Errorf("it ended otherwise (-undisturbed +disturbed):\n%s", diff)
	}
	<-release
	summary.tried(s.name, "watch frames held back", held.String(), !t.Failed(), max(0, took-usual-held))
}

// isRead tells the reads of informers: of everything, or of one resource.
func isRead(q *http.Request, resource string) bool {
	return q.Method == http.MethodGet && strings.HasSuffix(q.URL.Path, "/"+resource)
}

// isWatch tells watches, those that begin with what there is included.
func isWatch(q *http.Request) bool { return q.URL.Query().Get("watch") != "" }
