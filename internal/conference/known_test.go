// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// known asks for a meeting as a page does, which shows a session.
func (b *behind) known(t *testing.T, m *v1alpha1.Meeting) (meeting.View, error) {
	t.Helper()
	return b.Known(t.Context(), b.tenant, string(m.UID), m.Spec.Room)
}

// TestWhatACacheLacksHasNotEnded: only what was read past the cache says that a meeting has gone.
func TestWhatACacheLacksHasNotEnded(t *testing.T) {
	b := newBehind(t)
	m := b.create("r")
	if v, err := b.Known(t.Context(), b.tenant, string(m.UID), ""); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("without the name of its room: %+v, %v", v, err)
	}
	if _, err := b.Change(t.Context(), b.tenant, string(m.UID), always(func(*v1alpha1.MeetingSpec) {})); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("a change: %v", err)
	}
	if v, err := b.known(t, m); err != nil || v.Ended || v.UID != string(m.UID) {
		t.Errorf("a live one: %+v, %v", v, err)
	}
	other := *b.tenant
	other.Name = "other"
	if v, err := b.Known(t.Context(), &other, string(m.UID), "r"); err != nil || !v.Ended {
		t.Errorf("of another ConferenceConfig: %+v, %v", v, err)
	}

	if err := b.Client.Delete(t.Context(), m.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	b.Service, b.toldCache = replicaWith(t, b.Client)
	for _, when := range []string{"once", "again"} {
		if v, err := b.known(t, m); err != nil || !v.Ended || v.Redirect != "" {
			t.Errorf("one that has gone, %s: %+v, %v", when, v, err)
		}
	}
	m.Spec.Redirect = "https://example.com/bye"
	b.shows(m) // The watch is behind.
	if v, err := b.known(t, m); err != nil || !v.Ended {
		t.Errorf("when the watch shows it: %+v, %v", v, err)
	}
	b.hides(m)
	if v, err := b.known(t, m); err != nil || !v.Ended || v.Redirect != "https://example.com/bye" {
		t.Errorf("when the watch shows that it has gone: %+v, %v", v, err)
	}
}

// TestAFailedReadIsNoEnd has every way in which the look past the cache fails.
func TestAFailedReadIsNoEnd(t *testing.T) {
	b := newBehind(t)
	m := b.create("r")
	for name := range failures(func() {}) {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fails := failures(cancel)[name]
			service, _ := replicaWith(t, &failing{Client: b.Client, fails: func(int) (error, bool) { return fails() }})
			if v, err := service.Known(ctx, b.tenant, string(m.UID), "r"); err == nil || fault.Is(err, fault.KindGone) || v.Ended {
				t.Errorf("it is %+v, %v", v, err)
			}
		})
	}
}

// TestAFullNamespaceEndsNothing: no replica keeps a meeting that is there.
func TestAFullNamespaceEndsNothing(t *testing.T) {
	b := newBehind(t)
	m := b.create("r")
	d, err := directory.New(t.Context(), directory.Options{Cache: &toldCache{}, Now: time.Now, IsFull: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	b.Service = New(b.Client, d, time.Now)
	for what, do := range map[string]func() error{
		"a session": func() error { _, err := b.known(t, m); return err },
		"a link":    func() error { _, err := b.Enter(t.Context(), b.tenant, "r", string(m.UID)); return err },
		"an end":    func() error { return b.requestEndOnce("r") },
	} {
		if err := do(); !fault.Is(asFault(err), fault.KindUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
