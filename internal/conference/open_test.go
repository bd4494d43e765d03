// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// opens makes a replica whose tenant lets people open rooms.
func opens(t *testing.T, mode v1alpha1.AdHoc) *behind {
	b := newBehind(t)
	b.tenant.Settings = meeting.DefaultSettings()
	b.tenant.Settings.AdHoc = mode
	b.create("first") // An API server that has just started takes its time for the first.
	return b
}

func (b *behind) open(room, lineage string, change ...func(*meeting.Opening)) (meeting.View, error) {
	o := meeting.Opening{Room: room, Lineage: lineage, By: v1alpha1.OpenedByTicket, Allow: func() error { return nil }}
	if lineage == "" {
		o.By = v1alpha1.OpenedByGuest
	}
	for _, c := range change {
		c(&o)
	}
	return b.Open(b.t.Context(), b.tenant, o)
}

// join is what a backend does: it makes the meeting of a room.
func (b *behind) join(room string) meeting.View {
	b.t.Helper()
	v, err := b.Join(b.t.Context(), b.tenant, JoinCommand{Room: room})
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// over has the live Meeting of a room end as the controllers would, a minute after the Meeting that ended before it.
func (b *behind) over(room string, reason v1alpha1.EndReason) *v1alpha1.Meeting {
	b.t.Helper()
	m := b.Service.directory.Holder(b.tenant, room).DeepCopy()
	end := m.CreationTimestamp
	if last := b.Service.directory.LastEnded(b.tenant, room); last != nil {
		end = metav1.NewTime(last.Status.EndTime.Add(time.Minute))
	}
	m.Status.Phase, m.Status.EndReason, m.Status.EndTime = v1alpha1.MeetingEnded, reason, &end
	if err := b.Client.Status().Update(b.t.Context(), m); err != nil {
		b.t.Fatal(err)
	}
	b.shows(m)
	return m
}

// ending has the live Meeting of a room begin to end as the controllers would.
func (b *behind) ending(room string, reason v1alpha1.EndReason) {
	b.t.Helper()
	m := b.Service.directory.Holder(b.tenant, room).DeepCopy()
	m.Status.Phase, m.Status.EndReason = v1alpha1.MeetingEnding, reason
	if err := b.Client.Status().Update(b.t.Context(), m); err != nil {
		b.t.Fatal(err)
	}
	b.shows(m)
}

// gone takes an object out of the cluster and the cache.
func (b *behind) gone(m *v1alpha1.Meeting) {
	b.t.Helper()
	if err := client.IgnoreNotFound(b.Client.Delete(b.t.Context(), m)); err != nil {
		b.t.Fatal(err)
	}
	b.hides(m)
}

func TestARoomIsOpenedByEnteringIt(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	v, err := b.open("guests", "")
	if err != nil {
		t.Fatal(err)
	}
	m := b.Service.directory.Meeting(b.tenant, v.UID)
	if m.Labels[v1alpha1.LabelAdHoc] != v1alpha1.OpenedByGuest || m.Labels[v1alpha1.LabelManagedBy] != v1alpha1.ManagedByAPI || len(m.Finalizers) != 0 {
		t.Errorf("a guest's: %+v", m.ObjectMeta)
	}
	again, err := b.open("guests", "", func(o *meeting.Opening) { o.Allow = func() error { return errors.New("asked again") } })
	if err != nil || again.UID != v.UID {
		t.Errorf("a second one comes into %s, %v", again.UID, err)
	}
	v, err = b.open("tickets", "old-lineage", func(o *meeting.Opening) {
		o.Duration, o.MaxParticipants, o.Redirect = "1h30m", 7, "https://example.com/bye"
	})
	if err != nil {
		t.Fatal(err)
	}
	m = b.Service.directory.Meeting(b.tenant, v.UID)
	if v.Lineage != "old-lineage" || v.Length.Clock() != "01:30:00" || v.MaxParticipants != 7 || v.Redirect != "https://example.com/bye" {
		t.Errorf("a ticket's: %+v", v)
	}
	if m.Labels[v1alpha1.LabelAdHoc] != v1alpha1.OpenedByTicket {
		t.Errorf("a ticket's: %+v", m.ObjectMeta)
	}
	if n := b.Service.directory.Totals(b.tenant).AdHoc; n != 2 {
		t.Errorf("%d rooms are counted as opened so, want 2", n)
	}
	refused := errors.New("too fast")
	if _, err := b.open("other", "", func(o *meeting.Opening) { o.Allow = func() error { return refused } }); fault.As(err).Cause == nil || b.Service.directory.Holder(b.tenant, "other") != nil {
		t.Errorf("one that is not allowed: %v", err)
	}
	b.tenant.Settings.MaxAdHoc = 2
	if _, err := b.open("other", ""); !fault.Is(err, fault.KindTooMany) {
		t.Errorf("one more than may be open: %v", err)
	}
	if _, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "other"}); err != nil {
		t.Errorf("a backend is not limited: %v", err)
	}
	b.tenant.Settings.MaxAdHoc = 100
	v, err = b.open("large", "older-lineage", func(o *meeting.Opening) { o.MaxParticipants = 5000 })
	if m := b.Service.directory.Meeting(b.tenant, v.UID); err != nil || *m.Spec.MaxParticipants != 1000 {
		t.Errorf("of a ticket for more than a meeting can have: %+v, %v", m, err)
	}
	b.tenant.Settings.MaxMeetings = b.Service.directory.Totals(b.tenant).Rooms
	if _, err := b.open("last", ""); !errors.Is(err, errManyRooms) {
		t.Errorf("a person, with one more than may be live: %v", err)
	}
	if _, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "last"}); !errors.Is(err, errManyMeetings) {
		t.Errorf("a join, with one more than may be live: %v", err)
	}
	if _, err := b.Service.Create(t.Context(), b.tenant, CreateCommand{Room: "last"}); !errors.Is(err, errManyMeetings) {
		t.Errorf("one more than may be live: %v", err)
	}
	if _, err := b.Service.Create(t.Context(), b.tenant, CreateCommand{Room: "other"}); err != nil {
		t.Errorf("one that is live: %v", err)
	}
	b.tenant.Deleting = true
	b.tenant.Settings.MaxMeetings = 10_000
	if _, err := b.open("last", ""); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("of a tenant that is being deleted: %v", err)
	}
}

// TestWhichEndsAreKnown: nobody opens a room while it is known that its meeting ended for good.
func TestWhichEndsAreKnown(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	for i, tc := range []struct {
		reason v1alpha1.EndReason
		// gone says that the object has gone.
		gone bool
		// guest and ticket say whether they come in.
		guest, ticket bool
	}{
		{v1alpha1.EndRequested, false, false, false},
		{v1alpha1.EndDeleted, false, false, false},
		{v1alpha1.EndUnjoined, false, true, true},
		{v1alpha1.EndEmpty, false, true, true},
		{v1alpha1.EndRequested, true, true, true},
		{v1alpha1.EndDeleted, true, false, false},
		{v1alpha1.EndUnjoined, true, true, true},
		{v1alpha1.EndEmpty, true, true, true},
	} {
		for _, byTicket := range []bool{false, true} {
			room := fmt.Sprint("r", i, byTicket)
			before := b.join(room)
			if m := b.over(room, tc.reason); tc.gone {
				b.gone(m)
			}
			lineage, want := "", tc.guest
			if byTicket {
				lineage, want = before.Lineage, tc.ticket
			}
			v, err := b.open(room, lineage)
			if want != (err == nil) || err != nil && !fault.Is(err, fault.KindGone) {
				t.Errorf("%s, gone %v, ticket %v: %v", tc.reason, tc.gone, byTicket, err)
			}
			if err == nil && byTicket && v.Lineage != lineage {
				t.Errorf("%s, gone %v: the ticket's lineage is %s, the meeting's %s", tc.reason, tc.gone, lineage, v.Lineage)
			}
		}
	}
}

// TestTicketsOfSeveralLineagesMeet: a backend that asked for links on different days means one meeting.
func TestTicketsOfSeveralLineagesMeet(t *testing.T) {
	b := opens(t, v1alpha1.AdHocTickets)
	first, err := b.open("r", "lineage-of-monday")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.open("r", "lineage-of-tuesday")
	if err != nil || second.UID != first.UID {
		t.Errorf("the second comes into %s, %v; the first is in %s", second.UID, err, first.UID)
	}
	// The last meeting's settings count when another ticket opens its room.
	b.over("r", v1alpha1.EndEmpty)
	third, err := b.open("r", "lineage-of-wednesday")
	if err != nil || third.Lineage != first.Lineage || third.UID == first.UID {
		t.Errorf("after it ended empty: %+v, %v", third, err)
	}
}

// TestALinkWaitsForTheEndOfAnEmptyMeeting: while a meeting is being ended, a link that will start it again waits, and another link is
// refused.
func TestALinkWaitsForTheEndOfAnEmptyMeeting(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	for _, reason := range meeting.EndReasons() {
		for _, withTicket := range []bool{false, true} {
			room := fmt.Sprint(reason, withTicket)
			before := b.join(room)
			lineage := ""
			if withTicket {
				lineage = before.Lineage
			}
			b.ending(room, reason)
			hurry, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, seen := b.Preview(t.Context(), b.tenant, room, lineage, false)
			_, err := b.Enter(hurry, b.tenant, room, lineage)
			// Without participants, an end by duration is one of an empty room too.
			if reason == v1alpha1.EndRequested || reason == v1alpha1.EndDeleted {
				if !fault.Is(seen, fault.KindGone) || !fault.Is(err, fault.KindGone) {
					t.Errorf("%s: it shows %v, and entering says %v", room, seen, err)
				}
				continue
			}
			if seen != nil || !fault.Is(err, fault.KindUnavailable) {
				t.Errorf("%s: it shows %v, and entering does not wait: %v", room, seen, err)
			}
			if _, err := b.Enter(t.Context(), b.tenant, room, "of-another-meeting"); !fault.Is(err, fault.KindGone) {
				t.Errorf("%s: the link of another meeting: %v", room, err)
			}
			entered := make(chan meeting.View)
			go func() {
				v, err := b.Enter(t.Context(), b.tenant, room, lineage)
				if err != nil {
					t.Errorf("%s: %v", room, err)
				}
				entered <- v
			}()
			b.over(room, reason)
			if v := <-entered; v.Ended || v.UID == before.UID || v.Lineage != before.Lineage {
				t.Errorf("%s: entered %+v", room, v)
			}
		}
	}
}

// TestALineageThatEndedForGoodStaysOut: the participants of a meeting that was ended on request are not let into the next one.
func TestALineageThatEndedForGoodStaysOut(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	before := b.join("r")
	b.over("r", v1alpha1.EndRequested)
	next := b.join("r")
	if next.Lineage == before.Lineage {
		t.Fatal("the next meeting continues it")
	}
	if _, err := b.open("r", before.Lineage); !fault.Is(err, fault.KindGone) {
		t.Errorf("a ticket of the meeting before: %v", err)
	}
	if v, err := b.open("r", "lineage-of-another-day"); err != nil || v.UID != next.UID {
		t.Errorf("a ticket of another day: %v", err)
	}
	// A meeting that continues the next one knows it too.
	b.over("r", v1alpha1.EndEmpty)
	if _, err := b.open("r", before.Lineage); !fault.Is(err, fault.KindGone) {
		t.Errorf("after the next one ended empty: %v", err)
	}
	if _, err := b.Enter(t.Context(), b.tenant, "r", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.open("r", before.Lineage); !fault.Is(err, fault.KindGone) {
		t.Errorf("in the meeting after the next: %v", err)
	}
}

// TestARoomKeepsItsPassword: the last meeting's password counts for anyone who opens its room while it is known.
func TestARoomKeepsItsPassword(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	if _, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("sesame")}); err != nil {
		t.Fatal(err)
	}
	b.over("r", v1alpha1.EndEmpty)
	if v, err := b.open("r", "lineage-of-another-day"); err != nil || !v.HasPassword || b.markOf(t, v) == "" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestMeetingsOfATenantThatDidNotAskStayAsTheyAre: no annotation and no label is new for it.
func TestMeetingsOfATenantThatDidNotAskStayAsTheyAre(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	b.join("r")
	b.over("r", v1alpha1.EndRequested)
	m := b.Service.directory.Meeting(b.tenant, b.join("r").UID)
	if m.Annotations[v1alpha1.AnnotationEndedLineages] != "" || m.Labels[v1alpha1.LabelAdHoc] != "" {
		t.Errorf("%+v", m.ObjectMeta)
	}
}

// TestTwoWhoOpenARoomMeet: the one who loses the race comes into the meeting of the other.
func TestTwoWhoOpenARoomMeet(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	mine := *b
	mine.Service, mine.toldCache = replicaWith(t, b.Client)
	first, err := b.open("r", "")
	if err != nil {
		t.Fatal(err)
	}
	go func() { // The other replica's cache shows it a moment later.
		mine.shows(b.Service.directory.Meeting(b.tenant, first.UID))
	}()
	second, err := mine.open("r", "")
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	if second.UID != first.UID {
		t.Errorf("%s and %s", first.UID, second.UID)
	}
}

// TestARoomThatALinkStartsAgainIsCounted: it is still one of those that people open, and the bound holds for it too. A room that a
// backend makes again is the backend's.
func TestARoomThatALinkStartsAgainIsCounted(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	b.tenant.Settings.MaxAdHoc = 2
	for _, room := range []string{"one", "two"} {
		if _, err := b.open(room, ""); err != nil {
			t.Fatal(err)
		}
	}
	b.over("one", v1alpha1.EndEmpty)
	v, err := b.Enter(t.Context(), b.tenant, "one", "")
	if err != nil {
		t.Fatal(err)
	}
	if m := b.Service.directory.Meeting(b.tenant, v.UID); m.Labels[v1alpha1.LabelAdHoc] != v1alpha1.OpenedByGuest {
		t.Errorf("started again: %+v", m.ObjectMeta)
	}
	b.over("one", v1alpha1.EndEmpty)
	if _, err := b.open("three", ""); err != nil {
		t.Fatal(err)
	}
	ways := map[string]func() (meeting.View, error){
		"by entering it": func() (meeting.View, error) { return b.Enter(t.Context(), b.tenant, "one", "") },
		"by a ticket":    func() (meeting.View, error) { return b.Enter(t.Context(), b.tenant, "one", v.Lineage) },
		"by opening it":  func() (meeting.View, error) { return b.open("one", "") },
		"for a preview":  func() (meeting.View, error) { return b.Preview(b.t.Context(), b.tenant, "one", "", true) },
	}
	for way, start := range ways {
		if _, err := start(); !fault.Is(err, fault.KindTooMany) {
			t.Errorf("started again %s, with as many as may be open: %v", way, err)
		}
	}
	if n := b.Service.directory.Totals(b.tenant).AdHoc; n != 2 {
		t.Errorf("%d rooms are open, want 2", n)
	}
	if m := b.Service.directory.Meeting(b.tenant, b.join("one").UID); m.Labels[v1alpha1.LabelAdHoc] != "" {
		t.Errorf("made again by a backend: %+v", m.ObjectMeta)
	}
	for _, way := range ways {
		if _, err := way(); err != nil {
			t.Errorf("a room that is open: %v", err)
		}
	}
}

// TestDecisionsGoOnInTheNextOfALineage: whoever has a room made again after it ended by itself finds what was decided about its people.
// After an end on request nothing is decided.
func TestDecisionsGoOnInTheNextOfALineage(t *testing.T) {
	decided := v1alpha1.MeetingSpec{
		Locked: new(true), Admission: v1alpha1.AdmissionAsk, Policy: &v1alpha1.MeetingPolicy{Chat: v1alpha1.Presenters}, MaxParticipants: new(int32(5)),
		Participants: []v1alpha1.ParticipantDecision{{Identity: "user:bob", Removed: true}},
	}
	b := opens(t, v1alpha1.AdHocAnyone)
	for way, again := range map[string]func(room, lineage string) (meeting.View, error){
		"POST join": func(room, _ string) (meeting.View, error) {
			return b.Join(t.Context(), b.tenant, JoinCommand{Room: room})
		},
		"POST meeting": func(room, _ string) (meeting.View, error) {
			return b.Service.Create(t.Context(), b.tenant, CreateCommand{Room: room})
		},
		"a room link":      func(room, _ string) (meeting.View, error) { return b.Enter(t.Context(), b.tenant, room, "") },
		"a ticket":         func(room, lineage string) (meeting.View, error) { return b.Enter(t.Context(), b.tenant, room, lineage) },
		"a person":         func(room, _ string) (meeting.View, error) { return b.open(room, "") },
		"another's ticket": func(room, _ string) (meeting.View, error) { return b.open(room, "of-another-day") },
	} {
		v := b.join(way)
		if _, err := b.Change(t.Context(), b.tenant, v.UID, always(func(s *v1alpha1.MeetingSpec) { meeting.Carry(s, &decided) })); err != nil {
			t.Fatal(err)
		}
		b.over(way, v1alpha1.EndEmpty)
		next, err := again(way, v.Lineage)
		if err != nil {
			t.Errorf("%s: %v", way, err)
			continue
		}
		got := v1alpha1.MeetingSpec{}
		meeting.Carry(&got, &b.Service.directory.Meeting(b.tenant, next.UID).Spec)
		if !equality.Semantic.DeepEqual(got, decided) {
			t.Errorf("%s finds %+v, want %+v", way, got, decided)
		}
	}
	b.over("POST join", v1alpha1.EndRequested)
	if m := b.Service.directory.Meeting(b.tenant, b.join("POST join").UID); m.Spec.Locked != nil || m.Spec.Admission != "" || len(m.Spec.Participants) > 0 {
		t.Errorf("after an end on request: %+v", m.Spec)
	}
}

// TestWhoLeadsARoom: the first participant who is let in, and only where no backend asked for the room. With the last of them all that was
// decided ends, so that no leader locks a room for good or keeps the role in a backend's meeting.
func TestWhoLeadsARoom(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	b.tenant.Settings.OpenerLeads = true
	leaders := func(v meeting.View) (all []string) {
		for _, d := range v.Decisions {
			if d.Promoted {
				all = append(all, d.Identity)
			}
		}
		return all
	}
	// enters goes the way of a participant from the page to the meeting.
	enters := func(what string, who engine.Identity, find func() (meeting.View, error), want ...string) meeting.View {
		t.Helper()
		v, err := find()
		if err == nil {
			v, err = b.MarkOpened(t.Context(), b.tenant, v, who, "")
		}
		if diff := cmp.Diff(want, leaders(v)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
		}
		return v
	}
	link := func(room string) func() (meeting.View, error) {
		return func() (meeting.View, error) { return b.Enter(t.Context(), b.tenant, room, "") }
	}
	opening := func(room, lineage string) func() (meeting.View, error) {
		return func() (meeting.View, error) { return b.open(room, lineage) }
	}
	joins := func(room string) func() (meeting.View, error) {
		return func() (meeting.View, error) { return b.Join(t.Context(), b.tenant, JoinCommand{Room: room}) }
	}
	// Both found the room before either was in.
	unopened, err := b.open("club", "")
	if err != nil {
		t.Fatal(err)
	}
	both := func() (meeting.View, error) { return unopened, nil }
	enters("the first", "first-one", both, "first-one")
	enters("the second, at once", "second-one", both, "first-one")
	v := enters("the third", "third-one", link("club"), "first-one")

	locked := func(s *v1alpha1.MeetingSpec) { s.Locked = new(true) }
	for what, again := range map[string]func() (meeting.View, error){
		"a link starts it again": link("club"), "a person opens it again": opening("club", ""), "a ticket starts it again": opening("club", v.Lineage),
	} {
		now, err := b.Change(t.Context(), b.tenant, string(b.Service.directory.Holder(b.tenant, "club").UID), always(locked))
		if err != nil || !now.Locked {
			t.Fatal(now.Locked, err)
		}
		b.over("club", v1alpha1.EndEmpty)
		if shown, err := b.Preview(t.Context(), b.tenant, "club", "", true); err != nil || shown.Locked {
			t.Errorf("%s: it would be locked, %v", what, err)
		}
		if next := enters(what, "next-one", again, "next-one"); next.Locked {
			t.Errorf("%s: it is locked", what)
		}
	}
	b.over("club", v1alpha1.EndEmpty)
	enters("a backend goes on with it", "next-one", joins("club"))

	enters("a backend's room", "guest-one", joins("office"))
	b.over("office", v1alpha1.EndEmpty)
	enters("a backend's room that a link starts again", "guest-one", link("office"))
	enters("a room that a ticket opens", "guest-one", opening("desk", "of-a-ticket"))
	enters("a room whose first participant leads nothing", "", opening("hall", ""))
	enters("and the second there", "second-one", link("hall"))
}
