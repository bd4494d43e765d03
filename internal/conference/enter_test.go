// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// This replica lets participants in, and answers calls about the room, by what another replica has just confirmed.
func TestWhatAnotherReplicaConfirmedHolds(t *testing.T) {
	for _, tc := range []struct {
		confirmed string
		change    func(*v1alpha1.Meeting)
		holds     func(meeting.View) bool
	}{
		{"an end", func(m *v1alpha1.Meeting) { m.Spec.End = &v1alpha1.MeetingEnd{} }, nil},
		{"a lock", func(m *v1alpha1.Meeting) { m.Spec.Locked = ptr.To(true) }, func(v meeting.View) bool { return v.Locked }},
		{"a removal", func(m *v1alpha1.Meeting) {
			meeting.Decide(&m.Spec, "eve-1", func(d *v1alpha1.ParticipantDecision) { d.Removed = true })
		}, func(v meeting.View) bool { return v.IsDecided("eve-1") }},
		{"a password", func(m *v1alpha1.Meeting) {
			m.Spec.PasswordSecretRef = &v1alpha1.SecretKeyReference{Name: "s", Key: "password"}
		}, func(v meeting.View) bool { return v.HasPassword }},
	} {
		t.Run(tc.confirmed, func(t *testing.T) {
			b, _ := lagging(t)
			m := b.create("r")
			b.shows(m.DeepCopy())
			changed := m.DeepCopy()
			tc.change(changed)
			if err := b.Client.Update(t.Context(), changed); err != nil {
				t.Fatal(err)
			}
			for way, look := range b.looksAt(t, string(m.UID)) {
				b.Service, b.toldCache = replicaWith(t, b.Client)
				b.shows(m.DeepCopy())
				v, err := look()
				switch {
				case tc.holds == nil && !fault.Is(err, fault.KindGone) && !fault.Is(err, fault.KindNotFound):
					t.Errorf("%s: %+v, %v", way, v, err)
				case tc.holds != nil && (err != nil || !tc.holds(v)):
					t.Errorf("%s: %+v, %v", way, v, err)
				}
			}
		})
	}
}

// A meeting that another replica knows is found here, whatever its Meeting is called and whatever was known of the room.
func TestWhatAnotherReplicaKnowsIsFound(t *testing.T) {
	byHand := func(b *behind) *v1alpha1.Meeting {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "by-hand"}}
		m.Spec.Room, m.Spec.ConfigRef.Name = "r", "default"
		if err := b.Client.Create(b.t.Context(), m); err != nil {
			b.t.Fatal(err)
		}
		return m
	}
	for name, made := range map[string]func(*behind) *v1alpha1.Meeting{
		"made by the API": func(b *behind) *v1alpha1.Meeting { return b.create("r") },
		"made by kubectl": byHand,
		"made after another": func(b *behind) *v1alpha1.Meeting {
			old := b.create("r")
			b.shows(old.DeepCopy())
			return b.replace(old)
		},
		"made by kubectl after another": func(b *behind) *v1alpha1.Meeting {
			old := b.create("r")
			b.shows(old.DeepCopy())
			if err := b.Client.Delete(b.t.Context(), old); err != nil {
				b.t.Fatal(err)
			}
			return byHand(b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := lagging(t)
			m := made(b)
			known := b.Service.directory.Holder(b.tenant, "r")
			for way, look := range b.looksAt(t, string(m.UID)) {
				b.Service, b.toldCache = replicaWith(t, b.Client)
				if known != nil {
					b.shows(known.DeepCopy())
				}
				if v, err := look(); err != nil || v.UID != string(m.UID) {
					t.Errorf("%s: %q, %v; want %q", way, v.UID, err, m.UID)
				}
			}
		})
	}
}

// looksAt are the ways to find the meeting of the room r that change nothing.
func (b *behind) looksAt(t *testing.T, lineage string) map[string]func() (meeting.View, error) {
	return map[string]func() (meeting.View, error){
		"a call":    func() (meeting.View, error) { return b.Find(t.Context(), b.tenant, "r") },
		"a ticket":  func() (meeting.View, error) { return b.Enter(t.Context(), b.tenant, "r", lineage) },
		"the room":  func() (meeting.View, error) { return b.Enter(t.Context(), b.tenant, "r", "") },
		"a preview": func() (meeting.View, error) { return b.Preview(t.Context(), b.tenant, "r", lineage, false) },
	}
}

// away is an API server that cannot be read.
type away struct{ client.Client }

func (away) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("the API server is away")
}

func (away) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("the API server is away")
}

// While the API server is away, participants enter the meetings that the cache has.
func TestKnownMeetingsAreEnteredWhileTheAPIIsAway(t *testing.T) {
	b, _ := lagging(t)
	m := b.create("r")
	b.shows(m.DeepCopy())
	b.client = away{b.client}
	ways := b.looksAt(t, string(m.UID))
	ways["a join"] = func() (meeting.View, error) { return b.Join(t.Context(), b.tenant, JoinCommand{Room: "r"}) }
	for way, look := range ways {
		if v, err := look(); err != nil || v.UID != string(m.UID) {
			t.Errorf("%s: %+v, %v", way, v, err)
		}
	}
	b.hides(m)
	for way, look := range b.looksAt(t, string(m.UID)) {
		if _, err := look(); !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("%s to a room that the cache does not know: %v", way, err)
		}
	}
}

// slowReads is an API server whose answers to reads are held up until they are let through.
type slowReads struct {
	client.Client
	began   chan struct{}
	through chan struct{}
}

func (s slowReads) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	err := s.Client.Get(ctx, key, o, options...)
	s.began <- struct{}{}
	<-s.through
	return err
}

// TestJoinsShareReads: a read for each of ten thousand joins a second would cost more than the joins. A join that comes after an end was
// answered takes no answer that is older.
func TestJoinsShareReads(t *testing.T) {
	b := newBehind(t)
	m := b.create("r")
	b.shows(m.DeepCopy())
	slow := slowReads{b.client, make(chan struct{}, 1000), make(chan struct{})}
	b.client = slow
	var joins sync.WaitGroup
	joins.Go(func() {
		if _, err := b.fresh(m); err != nil {
			t.Errorf("a join before the end: %v", err)
		}
	})
	<-slow.began
	m = m.DeepCopy()
	ending := m.DeepCopy()
	ending.Spec.End = &v1alpha1.MeetingEnd{}
	if err := b.Client.Update(t.Context(), ending); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		joins.Go(func() {
			if _, err := b.fresh(m); !errors.Is(err, errStale) {
				t.Errorf("a join after the end: %v", err)
			}
		})
	}
	<-time.After(50 * time.Millisecond) // They come while the first read is on its way.
	close(slow.through)
	joins.Wait()
	if n := 1 + len(slow.began); n > 20 {
		t.Errorf("101 joins are %d reads", n)
	}
}

// A join of a replica that does not know of the room's new password gives a link that does not stand for it.
func TestLinksOfBeforeAPasswordDoNotStandForIt(t *testing.T) {
	b, _ := lagging(t)
	m := b.create("r")
	b.shows(m.DeepCopy())
	other, shown := replicaWith(t, b.Client)
	shown.shows(m.DeepCopy())
	secured, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("sesame")})
	if err != nil {
		t.Fatal(err)
	}
	linked, err := other.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("")})
	mark := b.markOf(t, secured)
	if at, _ := other.PasswordMark(t.Context(), b.tenant, linked); err == nil && at == mark {
		t.Error("a link without the password stands for it")
	}
	if again, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("sesame")}); err != nil || b.markOf(t, again) != mark {
		t.Errorf("a link with the password does not stand for it: %v", err)
	}
	now, err := other.Enter(t.Context(), b.tenant, "r", secured.Lineage)
	if at, _ := other.PasswordMark(t.Context(), b.tenant, now); err != nil || !now.HasPassword || at != mark {
		t.Errorf("who enters is asked for the password of %q, %v; want %q", at, err, mark)
	}
}

// While a link starts a room again, another replica makes the next meeting, in which a presenter decides something, and ends that, once or twice.
// The link starts what the room has then, or nothing.
func TestALinkStartsTheRoomAsItIs(t *testing.T) {
	ways := map[string]func(*behind, string) (meeting.View, error){
		"a ticket": func(b *behind, lineage string) (meeting.View, error) {
			return b.Enter(t.Context(), b.tenant, "r", lineage)
		},
		"a room link":              func(b *behind, _ string) (meeting.View, error) { return b.Enter(t.Context(), b.tenant, "r", "") },
		"a person who opens rooms": func(b *behind, _ string) (meeting.View, error) { return b.open("r", "") },
	}
	race := func(turns int, reason v1alpha1.EndReason, who string) (v meeting.View, err error) {
		b := opens(t, v1alpha1.AdHocAnyone)
		before := b.join("r")
		b.over("r", v1alpha1.EndEmpty)
		slow, other := b.whole(), b.whole()
		api := &failing{Client: b.Client}
		api.fails = func(number int) (error, bool) {
			for api.calls[number-1] == "create *v1alpha1.Meeting" && turns > 0 {
				turns--
				next := other.join("r")
				if _, err := other.Change(t.Context(), b.tenant, next.UID, always(func(s *v1alpha1.MeetingSpec) { s.Locked = ptr.To(true) })); err != nil {
					t.Error(err)
				}
				if turns > 0 {
					other.over("r", v1alpha1.EndEmpty)
				} else {
					other.over("r", reason)
				}
			}
			return nil, false
		}
		slow.client = api
		v, err = ways[who](slow, before.Lineage)
		t.Logf("%s, %v", who, api.calls)
		return v, err
	}
	for who := range ways {
		for turns := 1; turns <= 2; turns++ {
			if v, err := race(turns, v1alpha1.EndEmpty, who); err != nil || !v.Locked {
				t.Errorf("%s, %d meetings behind: %+v, %v", who, turns, v, err)
			}
			if v, err := race(turns, v1alpha1.EndRequested, who); !fault.Is(err, fault.KindGone) {
				t.Errorf("%s, %d meetings behind one that was ended on request: %+v, %v", who, turns, v, err)
			}
		}
	}
}
