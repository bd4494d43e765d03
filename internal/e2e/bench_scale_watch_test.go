// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// watched has all Meetings as the API server shows them, and measures when it shows that participants have come or left.
type watched struct {
	mu   sync.Mutex
	last map[types.UID]*v1alpha1.Meeting
	// in are the participants who are in, by meeting.
	in map[types.UID]map[string]bool
	// expected are the changes that are not shown yet.
	expected map[types.UID][]expectedChange
	shown    []time.Duration
}

type expectedChange struct {
	identity string
	joined   bool
	at       time.Time
}

func watchMeetings(t *testing.T, c *testkit.Cluster) *watched {
	w := &watched{last: map[types.UID]*v1alpha1.Meeting{}, in: map[types.UID]map[string]bool{}, expected: map[types.UID][]expectedChange{}}
	all, err := cache.New(c.Config, cache.Options{Scheme: testkit.Scheme(), DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		t.Fatal(err)
	}
	informer, err := all.GetInformer(t.Context(), &v1alpha1.Meeting{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.take(o.(*v1alpha1.Meeting)) },
		UpdateFunc: func(_, o any) { w.take(o.(*v1alpha1.Meeting)) },
		DeleteFunc: func(o any) {
			if m, ok := o.(*v1alpha1.Meeting); ok {
				w.gone(m)
			}
		},
	}); err != nil {
		t.Fatal(err)
	}
	go func() { _ = all.Start(t.Context()) }()
	return w
}

func (w *watched) gone(m *v1alpha1.Meeting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, m.UID)
	delete(w.expected, m.UID)
}

func (w *watched) take(m *v1alpha1.Meeting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[m.UID] = m
	left := w.expected[m.UID]
	if len(left) == 0 {
		return
	}
	listed := map[string]bool{}
	for _, p := range m.Status.Participants {
		listed[p.Identity] = true
	}
	left = slices.DeleteFunc(left, func(c expectedChange) bool {
		if listed[c.identity] != c.joined {
			return false
		}
		w.shown = append(w.shown, time.Since(c.at))
		return true
	})
	if w.expected[m.UID] = left; len(left) == 0 {
		delete(w.expected, m.UID)
	}
}

// expect notes that a participant comes or leaves now.
func (w *watched) expect(m *scaleMeeting, identity string, joined bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.in[m.uid] == nil {
		w.in[m.uid] = map[string]bool{}
	}
	if w.in[m.uid][identity] = true; !joined {
		delete(w.in[m.uid], identity)
		// A participant who leaves before the arrival is shown may never be shown.
		i := slices.IndexFunc(w.expected[m.uid], func(c expectedChange) bool { return c.identity == identity })
		if i >= 0 {
			if w.expected[m.uid] = slices.Delete(w.expected[m.uid], i, i+1); len(w.expected[m.uid]) == 0 {
				delete(w.expected, m.uid)
			}
			return
		}
	}
	w.expected[m.uid] = append(w.expected[m.uid], expectedChange{identity, joined, time.Now()})
}

// forget expects no more of a meeting.
func (w *watched) forget(m *scaleMeeting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.expected, m.uid)
	delete(w.in, m.uid)
}

func (w *watched) people(m *scaleMeeting) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.in[m.uid]))
}

// allShown is nil when no change is left that has not been shown.
func (w *watched) allShown() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.expected) > 0 {
		return fmt.Errorf("changes of %d meetings are not shown", len(w.expected))
	}
	return nil
}

// took returns the times that the changes since the last call took.
func (w *watched) took() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := w.shown
	w.shown = nil
	return shown
}

func (w *watched) phases(phase v1alpha1.MeetingPhase, want int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	have := 0
	for _, m := range w.last {
		if m.Status.Phase == phase {
			have++
		}
	}
	if have != want {
		return fmt.Errorf("%d of %d Meetings are %s", have, want, phase)
	}
	return nil
}

func (w *watched) ended(all []*scaleMeeting) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	have := 0
	for _, one := range all {
		if m := w.last[one.uid]; m == nil || m.Status.Phase == v1alpha1.MeetingEnded {
			have++
		}
	}
	if have < len(all) {
		return fmt.Errorf("%d of %d have ended", have, len(all))
	}
	return nil
}

// made are the Meetings whose rooms begin so.
func (w *watched) made(prefix string) (all []*v1alpha1.Meeting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.last {
		if strings.HasPrefix(m.Spec.Room, prefix) {
			all = append(all, m)
		}
	}
	return all
}

// start is when the first participant was seen in a meeting.
func (w *watched) start(m *scaleMeeting) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[m.uid].Status.StartTime.Time
}
