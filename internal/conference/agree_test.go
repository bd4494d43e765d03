// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// A backend that makes sure of a room before each join names nothing but the room: what a join or another call has set since
// is not compared.
func TestCreateComparesWhatItNamesAlone(t *testing.T) {
	b := newBehind(t)
	b.tenant.Settings = meeting.DefaultSettings()
	b.create("first") // An API server that has just started takes its time for the first.
	if _, err := b.Service.Create(t.Context(), b.tenant, CreateCommand{Room: "r"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Duration: "30m", Password: ptr.To("sesame")}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		change func(*CreateCommand)
		ok     bool
	}{
		{"the room alone", func(*CreateCommand) {}, true},
		{"the same duration", func(c *CreateCommand) { c.Duration = "30m" }, true},
		{"the same duration, as a person wrote it", func(c *CreateCommand) { c.Duration = "1800s" }, true},
		{"the same password", func(c *CreateCommand) { c.Password = ptr.To("sesame") }, true},
		{"the same redirect", func(c *CreateCommand) { c.Redirect = ptr.To("") }, true},
		{"another duration", func(c *CreateCommand) { c.Duration = "1h" }, false},
		{"another password", func(c *CreateCommand) { c.Password = ptr.To("open") }, false},
		{"no password", func(c *CreateCommand) { c.Password = ptr.To("") }, false},
		{"another redirect", func(c *CreateCommand) { c.Redirect = ptr.To("https://example.com") }, false},
		{"a limit", func(c *CreateCommand) { c.MaxParticipants = 7 }, false},
	} {
		command := CreateCommand{Room: "r"}
		c.change(&command)
		switch _, err := b.Service.Create(t.Context(), b.tenant, command); {
		case c.ok && err != nil:
			t.Errorf("%s: %v", c.reason, err)
		case !c.ok && !fault.Is(err, fault.KindConflict):
			t.Errorf("%s: it is accepted, or refused with %v", c.reason, err)
		}
	}
}

// Once a participant has entered, a duration that comes with a join could be over already.
func TestALateDurationChangesNothing(t *testing.T) {
	b := newBehind(t)
	b.tenant.Settings = meeting.DefaultSettings()
	join := func(room string, duration v1alpha1.Duration) meeting.View {
		t.Helper()
		v, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: room, Duration: duration})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	b.create("first") // An API server that has just started takes its time for the first.
	join("early", "")
	if got := join("early", "30m").Length.String(); got != "30m" {
		t.Errorf("before a participant has entered, the first duration makes it %s", got)
	}
	v := join("late", "")
	if _, err := b.MarkOpened(t.Context(), b.tenant, v, "", ""); err != nil {
		t.Fatal(err)
	}
	if got := join("late", "30m"); got.Length.String() != "unlimited" || !got.Expires.IsZero() {
		t.Errorf("after a participant has entered, a duration makes it %s, and it ends at %s", got.Length, got.Expires)
	}
}

// What an answer confirmed is true: after "Meeting ended" there is no meeting to end, on this replica and on any other.
func TestAConfirmedEndIsNotConfirmedTwice(t *testing.T) {
	b := newBehind(t)
	end := func() (EndResult, error) {
		return b.End(t.Context(), b.tenant, EndCommand{Room: "r"})
	}
	live := b.create("r")
	b.shows(live.DeepCopy())
	if got, err := end(); err != nil || !got.Ended {
		t.Fatalf("the first: %+v, %v", got, err)
	}
	if got, err := end(); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("the second: %+v, %v", got, err)
	}
	b.Service, b.toldCache = replicaWith(t, b.Client) // Another replica, whose cache is behind.
	b.shows(live.DeepCopy())
	if got, err := end(); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("another replica's: %+v, %v", got, err)
	}
}

// People are in: an end is asked for and not over, as often as it is asked for.
func TestAnEndThatIsUnderWayIsToldAgain(t *testing.T) {
	leaving := &v1alpha1.Meeting{}
	leaving.Annotations = map[string]string{v1alpha1.AnnotationRoomOpened: "2026-01-01T00:00:00Z"}
	leaving.Spec.End = &v1alpha1.MeetingEnd{}
	if isDesertedEnd(leaving) {
		t.Error("one whose room was not looked into counts as over")
	}
	leaving.Status.Phase, leaving.Status.ParticipantCount = v1alpha1.MeetingEnding, 1
	if isDesertedEnd(leaving) {
		t.Error("one with a participant in counts as over")
	}
	leaving.Status.ParticipantCount = 0
	if !isDesertedEnd(leaving) {
		t.Error("one that everybody has left does not count as over")
	}
}

// What will not pass by itself is not told as an outage, which clients try again for ever.
func TestRefusalsOfTheClusterAreNotOutages(t *testing.T) {
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "meetings"}, "r", errors.New("exceeded quota: meetings, used: 9, limited: 9"))
	if err := asFault(quota); !fault.Is(err, fault.KindTooMany) || fault.As(err).Cause == nil {
		t.Errorf("a quota: %v", err)
	}
	policy := apierrors.NewForbidden(schema.GroupResource{Resource: "meetings"}, "r", errors.New("ValidatingAdmissionPolicy 'house' denied request: no"))
	if err := asFault(policy); !fault.Is(err, fault.KindInternal) || fault.As(err).Cause == nil {
		t.Errorf("a policy: %v", err)
	}
	if err := asFault(apierrors.NewTooManyRequests("busy", 1)); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("too busy: %v", err)
	}
}
