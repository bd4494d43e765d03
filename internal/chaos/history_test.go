// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// history is every version of every Meeting of a namespace, seen past the proxies.
type history struct {
	mu    sync.Mutex
	order []types.UID
	lives map[types.UID]*life
}

// life is one Meeting's.
type life struct {
	versions []*v1alpha1.Meeting
	gone     bool
}

func (l *life) last() *v1alpha1.Meeting { return l.versions[len(l.versions)-1] }

func watchHistory(t testing.TB, w *world) *history {
	t.Helper()
	watcher, err := client.NewWithWatch(w.Config, client.Options{Scheme: testkit.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	versions, err := watcher.Watch(t.Context(), &v1alpha1.MeetingList{}, client.InNamespace(w.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	h := &history{lives: map[types.UID]*life{}}
	go func() {
		for e := range versions.ResultChan() {
			if m, ok := e.Object.(*v1alpha1.Meeting); ok {
				h.add(m, e.Type == watch.Deleted)
			}
		}
	}()
	t.Cleanup(versions.Stop)
	return h
}

func (h *history) add(m *v1alpha1.Meeting, gone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lives[m.UID] == nil {
		h.lives[m.UID] = &life{}
		h.order = append(h.order, m.UID)
	}
	l := h.lives[m.UID]
	l.versions, l.gone = append(l.versions, m), gone
}

// of are the lives of the Meetings of rooms that begin like this, in order.
func (h *history) of(room string) (lives []*life) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, uid := range h.order {
		if l := h.lives[uid]; strings.HasPrefix(l.last().Spec.Room, room) {
			lives = append(lives, &life{versions: slices.Clone(l.versions), gone: l.gone})
		}
	}
	return lives
}

// end is what became of a Meeting, without what differs from one run to the next.
type end struct {
	Gone       bool
	Phases     []v1alpha1.MeetingPhase
	Reason     v1alpha1.EndReason
	Started    bool
	Duration   v1alpha1.Duration
	Length     string
	People     int32
	Finalizers []string
	Conditions []string
	Redirect   v1alpha1.URL
	Password   bool
}

func (l *life) end() end {
	m := l.last()
	s := m.Status
	e := end{
		Gone: l.gone, Reason: s.EndReason, Started: s.StartTime != nil, Duration: s.Duration, People: s.ParticipantCount,
		Finalizers: m.Finalizers, Redirect: m.Spec.Redirect, Password: m.Spec.PasswordSecretRef != nil,
	}
	for _, v := range l.versions {
		// Who could not write Ending in time may write Ended at once.
		if p := v.Status.Phase; p != "" && p != v1alpha1.MeetingEnding && !slices.Contains(e.Phases, p) {
			e.Phases = append(e.Phases, p)
		}
	}
	if s.StartTime != nil && s.ExpiryTime != nil {
		e.Length = s.ExpiryTime.Sub(s.StartTime.Time).String()
	}
	for _, c := range s.Conditions {
		e.Conditions = append(e.Conditions, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(e.Conditions)
	return e
}

// broken says what must never be so, whatever happens.
func (l *life) broken() (broken []string) {
	says := func(ok bool, what string) {
		if !ok {
			broken = append(broken, what)
		}
	}
	rank := []v1alpha1.MeetingPhase{"", v1alpha1.MeetingPending, v1alpha1.MeetingActive, v1alpha1.MeetingEnding, v1alpha1.MeetingEnded}
	for i, now := range l.versions {
		s := now.Status
		if s.Phase == v1alpha1.MeetingEnded {
			says(s.ParticipantCount == 0, "a participant is in an ended meeting")
			says(s.EndReason != v1alpha1.EndExpired || !s.EndTime.Before(s.ExpiryTime), "it expired early")
		}
		if i == 0 {
			continue
		}
		was := l.versions[i-1].Status
		says(was.StartTime == nil || was.StartTime.Equal(s.StartTime), "the start moved")
		says(was.EndTime == nil || was.EndTime.Equal(s.EndTime), "the end moved")
		says(was.EndReason == "" || was.EndReason == s.EndReason, "the reason of the end changed")
		before, after := slices.Index(rank, was.Phase), slices.Index(rank, s.Phase)
		says(after >= before || after > 0 && before <= 2, fmt.Sprintf("%s became %s", was.Phase, s.Phase))
	}
	return slices.Compact(broken)
}
