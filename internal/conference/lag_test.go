// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// countingWrites counts the writes to Meetings, and the Secrets that are made.
type countingWrites struct {
	client.Client
	meetings, secrets int
}

func (c *countingWrites) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	err := c.Client.Create(ctx, o, opts...)
	if _, ok := o.(*corev1.Secret); !ok {
		c.meetings++
	} else if err == nil {
		c.secrets++
	}
	return err
}

func (c *countingWrites) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	c.meetings++
	return c.Client.Patch(ctx, o, p, opts...)
}

// lagging is a replica whose watch brings nothing new any more.
func lagging(t *testing.T) (*behind, *countingWrites) {
	b := newBehind(t)
	b.tenant.Settings = meeting.DefaultSettings()
	b.create("first") // An API server that has just started takes its time for the first.
	writes := &countingWrites{Client: b.client}
	b.client = writes
	return b, writes
}

// touch changes a Meeting behind the back of the replica.
func (b *behind) touch(m *v1alpha1.Meeting) {
	b.t.Helper()
	now := b.read(m)
	metav1.SetMetaDataAnnotation(&now.ObjectMeta, "example.com/touched", now.ResourceVersion)
	if err := b.Client.Update(b.t.Context(), now); err != nil {
		b.t.Fatal(err)
	}
}

// secretsOf counts the Secrets of a Meeting.
func (b *behind) secretsOf(m *v1alpha1.Meeting) (n int) {
	b.t.Helper()
	var all corev1.SecretList
	if err := b.Client.List(b.t.Context(), &all, client.InNamespace(b.Namespace)); err != nil {
		b.t.Fatal(err)
	}
	for i := range all.Items {
		if metav1.IsControlledBy(&all.Items[i], m) {
			n++
		}
	}
	return n
}

// Another replica or the controllers have changed the Meeting, and the watch of this replica does not show that: each command reads
// past it, and succeeds with the second write.
func TestCommandsWhileTheWatchLags(t *testing.T) {
	for _, tc := range []struct {
		command string
		do      func(*behind, string) error
		done    func(*v1alpha1.Meeting) bool
	}{
		{"end", func(b *behind, _ string) error { return b.requestEndOnce("r") }, func(m *v1alpha1.Meeting) bool { return m.Spec.End != nil }},
		{"lock", func(b *behind, uid string) error {
			_, err := b.Change(b.t.Context(), b.tenant, uid, always(func(s *v1alpha1.MeetingSpec) { s.Locked = ptr.To(true) }))
			return err
		}, func(m *v1alpha1.Meeting) bool { return ptr.Deref(m.Spec.Locked, false) }},
		{"mute", func(b *behind, uid string) error {
			return b.decide(b.t, uid, "eve-1", func(d *v1alpha1.ParticipantDecision) { d.Muted = true })
		}, func(m *v1alpha1.Meeting) bool { return len(m.Spec.Participants) == 1 && m.Spec.Participants[0].Muted }},
		{"remove", func(b *behind, uid string) error {
			return b.decide(b.t, uid, "eve-1", func(d *v1alpha1.ParticipantDecision) { d.Removed = true })
		}, func(m *v1alpha1.Meeting) bool { return len(m.Spec.Participants) == 1 && m.Spec.Participants[0].Removed }},
		{"enter", func(b *behind, uid string) error {
			_, err := b.MarkOpened(b.t.Context(), b.tenant, meeting.View{UID: uid}, "", "")
			return err
		}, func(m *v1alpha1.Meeting) bool { return m.Annotations[v1alpha1.AnnotationRoomOpened] != "" }},
		{"join with a duration", func(b *behind, _ string) error {
			_, err := b.Join(b.t.Context(), b.tenant, JoinCommand{Room: "r", Duration: "30m"})
			return err
		}, func(m *v1alpha1.Meeting) bool { return m.Spec.Duration == "30m" }},
		{"join with a password", func(b *behind, _ string) error {
			_, err := b.Join(b.t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("sesame")})
			return err
		}, func(m *v1alpha1.Meeting) bool { return m.Spec.PasswordSecretRef != nil }},
	} {
		t.Run(tc.command, func(t *testing.T) {
			b, writes := lagging(t)
			m := b.create("r")
			b.shows(m.DeepCopy())
			b.touch(m)
			if err := tc.do(b, string(m.UID)); err != nil {
				t.Fatalf("after %d writes: %v", writes.meetings, err)
			}
			if !tc.done(b.read(m)) {
				t.Error("it was confirmed and not done")
			}
			if writes.meetings > 2 || writes.secrets > 1 || b.secretsOf(m) > 1 {
				t.Errorf("it took %d writes of Meetings and %d of Secrets", writes.meetings, writes.secrets)
			}
		})
	}
}

// TestWhatIsAnsweredIsWritten: the cache says already what is asked for, and another replica has undone it.
func TestWhatIsAnsweredIsWritten(t *testing.T) {
	decide := func(change func(*v1alpha1.ParticipantDecision)) func(*v1alpha1.MeetingSpec) {
		return func(s *v1alpha1.MeetingSpec) { meeting.Decide(s, "eve-1", change) }
	}
	for _, tc := range []struct {
		command    string
		do, undone func(*v1alpha1.MeetingSpec)
		done       func(meeting.View) bool
	}{
		{
			"lock", func(s *v1alpha1.MeetingSpec) { s.Locked = ptr.To(true) }, func(s *v1alpha1.MeetingSpec) { s.Locked = ptr.To(false) },
			func(v meeting.View) bool { return v.Locked },
		},
		{
			"mute", decide(func(d *v1alpha1.ParticipantDecision) { d.Muted = true }), decide(func(d *v1alpha1.ParticipantDecision) { d.Muted = false }),
			func(v meeting.View) bool { return v.DecisionOn("", "eve-1").Muted },
		},
		{
			"promote", decide(meeting.Promote), decide(meeting.Demote),
			func(v meeting.View) bool { return v.Rights(v.DecisionOn("", "eve-1"), false).Presenter },
		},
		{
			"remove", decide(func(d *v1alpha1.ParticipantDecision) { d.Removed = true }), func(s *v1alpha1.MeetingSpec) { s.Participants = nil },
			func(v meeting.View) bool { return v.DecisionOn("", "eve-1").Removed },
		},
	} {
		t.Run(tc.command, func(t *testing.T) {
			b, writes := lagging(t)
			m := b.create("r")
			b.shows(m.DeepCopy())
			if _, err := b.Change(t.Context(), b.tenant, string(m.UID), always(tc.do)); err != nil {
				t.Fatal(err)
			}
			undone := b.read(m)
			tc.undone(&undone.Spec)
			if err := b.Client.Update(t.Context(), undone); err != nil {
				t.Fatal(err)
			}
			b.client = &failing{Client: writes, fails: func(int) (error, bool) { return errors.New("connection refused"), false }}
			if v, err := b.Change(t.Context(), b.tenant, string(m.UID), always(tc.do)); !fault.Is(err, fault.KindUnavailable) {
				t.Errorf("while the API server is away, it answers %t, %v", tc.done(v), err)
			}
			b.client = writes
			v, err := b.Change(t.Context(), b.tenant, string(m.UID), always(tc.do))
			if err != nil || !tc.done(v) {
				t.Fatalf("it answers %t, %v", tc.done(v), err)
			}
			if stored := directory.View(b.tenant, b.read(m)); !tc.done(stored) {
				t.Error("it was confirmed and not written")
			}
			if writes.meetings != 2 {
				t.Errorf("it took %d writes", writes.meetings-1)
			}
		})
	}
}

// TestARefusalIsNotOfTheCache: the list of decisions is full in the cache alone.
func TestARefusalIsNotOfTheCache(t *testing.T) {
	b := newBehind(t)
	m := b.create("r")
	full := m.DeepCopy()
	for i := range v1alpha1.MaxParticipantDecisions {
		full.Spec.Participants = append(full.Spec.Participants, v1alpha1.ParticipantDecision{Identity: fmt.Sprintf("p%d-1", i), Removed: true})
	}
	b.shows(full)
	b.touch(m)
	if err := b.decide(t, string(m.UID), "ann-1", func(d *v1alpha1.ParticipantDecision) { d.Admitted = true }); err != nil {
		t.Error(err)
	}
}

// conflicting lets the Meeting be changed before each of the first patches.
type conflicting struct {
	client.Client
	before func()
	times  int
}

func (c *conflicting) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if c.times > 0 {
		c.times--
		c.before()
	}
	return c.Client.Patch(ctx, o, p, opts...)
}

// However often a join that sets a password loses a race, it hashes the password once and leaves one Secret.
func TestAJoinMakesOneSecretHoweverOftenItIsTried(t *testing.T) {
	b, writes := lagging(t)
	m := b.create("r")
	b.shows(m.DeepCopy())
	b.client = &conflicting{Client: writes, before: func() { b.touch(m) }, times: 3}
	v, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("sesame")})
	if err != nil {
		t.Fatal(err)
	}
	if writes.secrets != 1 || b.secretsOf(m) != 1 {
		t.Errorf("%d Secrets were made, %d are left", writes.secrets, b.secretsOf(m))
	}
	if ok, err := b.CheckPassword(t.Context(), b.tenant, v, netip.Prefix{}, "sesame"); !ok || err != nil {
		t.Errorf("the password of the room is not the one of the join: %t, %v", ok, err)
	}
	b.touch(m)
	if _, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("open")}); !fault.Is(err, fault.KindDenied) {
		t.Errorf("another password: %v", err)
	}
}

// TestJoinsThatSetAPasswordAtOnce, at two replicas, leave one Secret for each of their passwords, and the first of them is the room's.
func TestJoinsThatSetAPasswordAtOnce(t *testing.T) {
	for _, passwords := range [][]string{{"sesame"}, {"sesame", "open"}} {
		b := newBehind(t)
		m := b.create("r")
		b.shows(m.DeepCopy())
		other, _ := replicaWith(t, b.client)
		other.directory.Learn(m.DeepCopy())
		taken := make([]atomic.Int32, len(passwords))
		var all errgroup.Group
		for i := range 24 {
			all.Go(func() error {
				which := i / 2 % len(passwords)
				_, err := []*Service{b.Service, other}[i%2].Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: &passwords[which]})
				switch {
				case err == nil:
					taken[which].Add(1)
				case !fault.Is(err, fault.KindDenied):
					return err
				}
				return nil
			})
		}
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
		for i := range taken {
			if n := taken[i].Load(); n != 0 && n != int32(24/len(passwords)) || len(passwords) == 1 && n == 0 {
				t.Errorf("%q was right for %d joins", passwords[i], n)
			}
		}
		if n := b.secretsOf(m); n > len(passwords) {
			t.Errorf("%d Secrets of %d passwords", n, len(passwords))
		}
	}
}

// TestASecretThatIsNotTheRoomsSetsNoPassword: another has written the Secret that a join wants to name.
func TestASecretThatIsNotTheRoomsSetsNoPassword(t *testing.T) {
	b := newBehind(t)
	m := b.create("r")
	b.shows(m.DeepCopy())
	name := (&presented{}).refFor(m).Name
	b.Cluster.Create(t, testkit.SecretFor(v1alpha1.UsedByConferenceConfig, b.Namespace, name, map[string]string{passwordKey: "planted"}))
	v, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("sesame")})
	if err != nil {
		t.Fatal(err)
	}
	for password, right := range map[string]bool{"sesame": true, "planted": false} {
		if ok, err := b.CheckPassword(t.Context(), b.tenant, v, netip.Prefix{}, password); ok != right || err != nil {
			t.Errorf("%q opens the room: %t, %v", password, ok, err)
		}
	}
}

// The Meeting that the replica knows has ended, was replaced or is gone: a room is made, found or refused by what is true.
func TestRoomsWhileTheWatchLags(t *testing.T) {
	over := func(b *behind, m *v1alpha1.Meeting) {
		now := b.read(m)
		now.Status.Phase, now.Status.EndReason, now.Status.EndTime = v1alpha1.MeetingEnded, v1alpha1.EndRequested, &now.CreationTimestamp
		if err := b.Client.Status().Update(b.t.Context(), now); err != nil {
			b.t.Fatal(err)
		}
	}
	leaving := func(m *v1alpha1.Meeting) *v1alpha1.Meeting {
		m = m.DeepCopy()
		m.Spec.End = &v1alpha1.MeetingEnd{}
		return m
	}
	create := func(b *behind) (meeting.View, error) {
		return b.Service.Create(b.t.Context(), b.tenant, CreateCommand{Room: "r"})
	}
	join := func(b *behind) (meeting.View, error) {
		return b.Join(b.t.Context(), b.tenant, JoinCommand{Room: "r", Duration: "30m"})
	}
	look := func(b *behind) (meeting.View, error) { return b.Join(b.t.Context(), b.tenant, JoinCommand{Room: "r"}) }
	for _, tc := range []struct {
		known string
		// happens makes the change that the watch does not show. It returns the UID of the Meeting that the command has to find, or
		// an empty one for a new Meeting.
		happens func(*behind, *v1alpha1.Meeting) string
	}{
		{"a live one that has ended", func(b *behind, m *v1alpha1.Meeting) string {
			b.shows(m.DeepCopy())
			over(b, m)
			return ""
		}},
		{"a live one that has gone", func(b *behind, m *v1alpha1.Meeting) string {
			b.shows(m.DeepCopy())
			if err := b.Client.Delete(b.t.Context(), m); err != nil {
				b.t.Fatal(err)
			}
			return ""
		}},
		{"a live one that was replaced", func(b *behind, m *v1alpha1.Meeting) string {
			b.shows(m.DeepCopy())
			return string(b.replace(m).UID)
		}},
		{"an ending one that has ended", func(b *behind, m *v1alpha1.Meeting) string {
			b.shows(leaving(m))
			over(b, m)
			return ""
		}},
		{"an ended one that was replaced", func(b *behind, m *v1alpha1.Meeting) string {
			ended := m.DeepCopy()
			ended.Status.Phase = v1alpha1.MeetingEnded
			b.shows(ended)
			return string(b.replace(m).UID)
		}},
		{"none, and there is one", func(_ *behind, m *v1alpha1.Meeting) string { return string(m.UID) }},
	} {
		for name, do := range map[string]func(*behind) (meeting.View, error){"create": create, "join": join, "join that changes nothing": look} {
			t.Run(tc.known+"/"+name, func(t *testing.T) {
				b, writes := lagging(t)
				m := b.create("r")
				want := tc.happens(b, m)
				v, err := do(b)
				if err != nil {
					t.Fatalf("after %d writes: %v", writes.meetings, err)
				}
				if want == "" && v.UID == string(m.UID) || want != "" && v.UID != want {
					t.Errorf("it found %s, want %q", v.UID, want)
				}
				if writes.meetings > 3 {
					t.Errorf("it took %d writes", writes.meetings)
				}
			})
		}
	}
}

// A Meeting that has gone takes part in nothing any more, also where the watch shows an old change of it afterwards.
func TestMeetingsThatAreKnownToHaveGoneStayAway(t *testing.T) {
	b, _ := lagging(t)
	m := b.create("r")
	b.shows(m.DeepCopy())
	if err := b.Client.Delete(t.Context(), m.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	lock := func() error {
		_, err := b.Change(t.Context(), b.tenant, string(m.UID), always(func(s *v1alpha1.MeetingSpec) { s.Locked = ptr.To(true) }))
		return err
	}
	if err := lock(); !fault.Is(err, fault.KindGone) {
		t.Errorf("a lock: %v", err)
	}
	b.shows(m.DeepCopy())
	if b.Service.directory.Holder(b.tenant, "r") != nil {
		t.Error("it has the room again")
	}
	b.hides(m)
	if !b.Service.directory.WasDeleted(b.tenant, "r") {
		t.Error("the deletion of its room was forgotten")
	}
}

// The ended Meeting of a room takes a while to go. The next Meeting is made all the same, and it knows the links of the ended one when that
// has gone.
func TestWhatTheNextMeetingHasFromAnEndedOneThatGoesLate(t *testing.T) {
	for reason, goesOn := range map[v1alpha1.EndReason]bool{v1alpha1.EndRequested: false, v1alpha1.EndEmpty: true} {
		t.Run(string(reason), func(t *testing.T) {
			b := opens(t, v1alpha1.AdHocAnyone)
			before := b.join("r")
			m := b.over("r", reason)
			m.Finalizers = []string{"example.com/kept"}
			if err := b.Client.Update(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			b.shows(m)
			next := b.join("r")
			if goesOn != (next.Lineage == before.Lineage) {
				t.Errorf("the lineage is %s after %s", next.Lineage, before.Lineage)
			}
			b.hides(m)
			if _, err := b.open("r", before.Lineage); goesOn && err != nil || !goesOn && !fault.Is(err, fault.KindGone) {
				t.Errorf("a ticket of the meeting before: %v", err)
			}
		})
	}
}

// A list of a room's Meetings that lacks one says that it has gone, while the watch is held up. A list that is older than a Meeting does not.
func TestWhatAListLacksHasGone(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	was := b.join("r")
	m := b.over("r", v1alpha1.EndEmpty)
	replica := b.whole()
	if err := b.Client.Delete(t.Context(), m.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if v, err := replica.Preview(t.Context(), b.tenant, "r", was.Lineage, false); !fault.Is(err, fault.KindGone) {
		t.Errorf("a link of a room whose Meeting is deleted shows %+v, %v", v, err)
	}
	if v, err := b.whole().Enter(t.Context(), b.tenant, "r", was.Lineage); !fault.Is(err, fault.KindGone) {
		t.Errorf("it leads into %+v, %v", v, err)
	}

	var before v1alpha1.MeetingList
	if err := b.Client.List(t.Context(), &before, client.InNamespace(b.Namespace), client.MatchingFields{"spec.room": "s"}); err != nil {
		t.Fatal(err)
	}
	made := b.join("s")
	if b.Service.directory.LearnRoom(b.tenant, "s", &before); b.Service.directory.Meeting(b.tenant, made.UID) == nil {
		t.Error("a list from before a Meeting was made takes it away")
	}
}

// always is a change that is never refused.
func always(change func(*v1alpha1.MeetingSpec)) func(*v1alpha1.MeetingSpec) error {
	return func(s *v1alpha1.MeetingSpec) error {
		change(s)
		return nil
	}
}
