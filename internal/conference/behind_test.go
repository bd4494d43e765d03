// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// toldCache is a cache of Meetings that shows what it is told to.
type toldCache struct {
	cache.Cache
	cache.Informer
	directory toolscache.ResourceEventHandler
}

func (c *toldCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return c, nil
}

func (c *toldCache) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	c.directory = h
	return nil, nil
}

func (c *toldCache) shows(m *v1alpha1.Meeting) { c.directory.OnAdd(m, false) }
func (c *toldCache) hides(m *v1alpha1.Meeting) { c.directory.OnDelete(m) }

// replicaWith makes a Service and the cache that its directory is fed by.
func replicaWith(t *testing.T, c client.Client) (*Service, *toldCache) {
	t.Helper()
	shown := &toldCache{}
	d, err := directory.New(t.Context(), directory.Options{Cache: shown, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return New(c, d, time.Now), shown
}

// behind is a Service on a real API server whose cache shows what it is told to, as that of a replica which is behind.
type behind struct {
	*Service
	*toldCache
	*testkit.Cluster
	t      *testing.T
	tenant *tenant.Tenant
}

func newBehind(t *testing.T) *behind {
	c := testkit.ControlPlane(t)
	service, shown := replicaWith(t, c.Client)
	return &behind{
		Service: service, toldCache: shown, Cluster: c, t: t,
		tenant: &tenant.Tenant{
			NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: "default"}, UID: "config", Settings: meeting.DefaultSettings(), Signer: signer(t),
		},
	}
}

func signer(t testing.TB) *credential.Signer {
	t.Helper()
	s, problems := credential.NewSigner("convene/test", map[string][]byte{"1": make([]byte, 32)})
	if s == nil {
		t.Fatal(problems)
	}
	return s
}

// markOf is the mark of a meeting's password.
func (b *behind) markOf(t testing.TB, v meeting.View) string {
	t.Helper()
	mark, err := b.PasswordMark(t.Context(), b.tenant, v)
	if err != nil {
		t.Errorf("the mark of its password: %v", err)
	}
	return mark
}

// create makes a Meeting under the name that the API would give it.
func (b *behind) create(room string) *v1alpha1.Meeting {
	b.t.Helper()
	m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: meeting.ObjectNames("default", room)[0]}}
	m.Spec.Room, m.Spec.ConfigRef.Name = room, "default"
	if err := b.Client.Create(b.t.Context(), m); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// replace deletes a Meeting and makes another of its name, and what was known of the first stays known.
func (b *behind) replace(m *v1alpha1.Meeting) *v1alpha1.Meeting {
	b.t.Helper()
	if err := b.Client.Delete(b.t.Context(), m.DeepCopy()); err != nil {
		b.t.Fatal(err)
	}
	return b.create(m.Spec.Room)
}

func (b *behind) read(m *v1alpha1.Meeting) *v1alpha1.Meeting {
	b.t.Helper()
	var now v1alpha1.Meeting
	if err := b.Client.Get(b.t.Context(), client.ObjectKeyFromObject(m), &now); err != nil {
		b.t.Fatal(err)
	}
	if now.UID != m.UID {
		b.t.Fatalf("%s is another one now", m.Name)
	}
	return &now
}

// Another replica has replaced an ended Meeting by a live one: that must not go, and it is found.
func TestTheNextMeetingTakesNoLiveOneAway(t *testing.T) {
	b := newBehind(t)
	ended := b.create("r").DeepCopy()
	ended.Status.Phase = v1alpha1.MeetingEnded
	b.shows(ended)
	live := b.replace(ended)
	if v, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r"}); err != nil || v.UID != string(live.UID) {
		t.Errorf("a join leads into %s, %v", v.UID, err)
	}
	b.read(live)
}

// Nor must the next meeting of a room end when the last one was meant, or be changed by what was known of that.
func TestWritesAreOfTheMeetingThatWasRead(t *testing.T) {
	b := newBehind(t)
	old := b.create("r")
	live := b.replace(old)
	ending := old.DeepCopy()
	ending.Spec.End = &v1alpha1.MeetingEnd{}
	if err := b.patch(t.Context(), old, ending); !apierrors.IsConflict(err) {
		t.Errorf("it says %v", err)
	}
	if now := b.read(live); now.Spec.End != nil {
		t.Error("the next meeting was ended")
	}
}

// Another replica has just ended a meeting that this one still takes for live.
func TestRefreshSeesTheEndThatAnotherReplicaAskedFor(t *testing.T) {
	b := newBehind(t)
	live := b.create("r")
	b.shows(live.DeepCopy())
	if _, err := b.refresh(t.Context(), live); err != nil {
		t.Errorf("a live one: %v", err)
	}
	ending := live.DeepCopy()
	ending.Spec.End = &v1alpha1.MeetingEnd{}
	if err := b.Client.Update(t.Context(), ending); err != nil {
		t.Fatal(err)
	}
	if _, err := b.refresh(t.Context(), live); !errors.Is(err, errStale) {
		t.Errorf("one that is ending: %v", err)
	}
	b.replace(ending)
	if _, err := b.refresh(t.Context(), live); !errors.Is(err, errStale) {
		t.Errorf("one that was replaced: %v", err)
	}
}

// Another replica has just made a meeting that this one does not know yet: its end and its links work.
func TestMeetingsMadeElsewhereAreFound(t *testing.T) {
	b := newBehind(t)
	live := b.create("r")
	if err := b.requestEndOnce("other"); err == nil {
		t.Error("a room that was never there ends")
	}
	v, err := b.Enter(t.Context(), b.tenant, "r", string(live.UID))
	if err != nil || v.UID != string(live.UID) {
		t.Errorf("its link: %v, %v", v.UID, err)
	}
	b.Service, b.toldCache = replicaWith(t, b.Client) // One that has not learned of it by the link.
	if err := b.requestEndOnce("r"); err != nil {
		t.Errorf("its end: %v", err)
	}
	if now := b.read(live); now.Spec.End == nil {
		t.Error("it was not ended")
	}
}

// Another replica has just made a meeting that this one does not know yet: a guest with a link gets in.
func TestMeetingsMadeElsewhereAreEntered(t *testing.T) {
	b := newBehind(t)
	live := b.create("r")
	v, err := b.Enter(t.Context(), b.tenant, "r", string(live.UID))
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := b.CheckPassword(t.Context(), b.tenant, v, netip.Prefix{}, ""); !ok || err != nil {
		t.Errorf("no password is right where there is none: %t, %v", ok, err)
	}
	if _, err := b.MarkOpened(t.Context(), b.tenant, v, "", ""); err != nil {
		t.Errorf("its room is not opened: %v", err)
	}
}

// Another replica is ending a meeting that this one does not know yet, and a participant is still in: it has not ended.
func TestAnEndElsewhereIsWaitedFor(t *testing.T) {
	b := newBehind(t)
	m := b.create("r")
	m.Annotations = map[string]string{v1alpha1.AnnotationRoomOpened: "2026-01-01T00:00:00Z"}
	m.Spec.End = &v1alpha1.MeetingEnd{}
	if err := b.Client.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	m.Status.Phase, m.Status.EndReason, m.Status.ParticipantCount = v1alpha1.MeetingEnding, v1alpha1.EndRequested, 1
	if err := b.Client.Status().Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got, err := b.End(t.Context(), b.tenant, EndCommand{Room: "r"})
	if err != nil || got.Ended {
		t.Errorf("with a participant in, its end is confirmed: %+v, %v", got, err)
	}
}

func (b *behind) requestEndOnce(room string) error {
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	_, err := b.requestEnd(ctx, b.tenant, EndCommand{Room: room})
	return err
}

// A presenter of an earlier meeting of the room must not end this one.
func TestEndOfAnotherMeetingOfTheRoom(t *testing.T) {
	b := newBehind(t)
	live := b.create("r")
	b.shows(live.DeepCopy())
	if _, err := b.requestEnd(t.Context(), b.tenant, EndCommand{Room: "r", UID: "earlier"}); err == nil {
		t.Error("it was accepted")
	}
	if now := b.read(live); now.Spec.End != nil {
		t.Error("it was ended")
	}
}

// This replica still takes the meeting before for the room's, and the presenter is in the next one.
func TestAPresenterEndsAMeetingThatThisReplicaDoesNotKnow(t *testing.T) {
	b := newBehind(t)
	old := b.create("r")
	b.shows(old.DeepCopy())
	live := b.replace(old)
	if _, err := b.requestEnd(t.Context(), b.tenant, EndCommand{Room: "r", UID: string(live.UID)}); err != nil {
		t.Error(err)
	}
	if now := b.read(live); now.Spec.End == nil {
		t.Error("it was not ended")
	}
}

// decide changes what is decided about a participant.
func (b *behind) decide(t *testing.T, uid string, who engine.Identity, change func(*v1alpha1.ParticipantDecision)) error {
	t.Helper()
	_, err := b.Change(t.Context(), b.tenant, uid, always(func(spec *v1alpha1.MeetingSpec) { meeting.Decide(spec, who, change) }))
	return err
}

// A participant whom a presenter lets speak again is off the list with every device of the same credential; others stay.
func TestUnmutedAreOffTheList(t *testing.T) {
	b := newBehind(t)
	live := b.create("r")
	b.shows(live.DeepCopy())
	uid := string(live.UID)
	mute := func(who engine.Identity, muted bool) {
		t.Helper()
		if err := b.decide(t, uid, who, func(d *v1alpha1.ParticipantDecision) { d.Muted = muted }); err != nil {
			t.Fatal(err)
		}
	}
	for _, who := range []engine.Identity{"ann-1", "eve-1", "ann-2"} {
		mute(who, true)
	}
	for range 2 {
		mute("ann-3", false)
		if got := b.read(live).Spec.Participants; len(got) != 1 || got[0].Identity != "eve-1" {
			t.Errorf("decided is %v, want about eve-1 alone", got)
		}
	}
	mute("eve-1", false)
	if got := b.read(live).Spec.Participants; len(got) != 0 {
		t.Errorf("decided is %v, want nothing", got)
	}
}

// Which annotations the next Meeting of a lineage has.
func TestWhatTheNextOfALineageTakesOver(t *testing.T) {
	ended := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{UID: "first", Annotations: map[string]string{
		v1alpha1.AnnotationRoomOpened: "2026-11-21T12:00:00Z",
	}}}
	want := map[string]string{v1alpha1.AnnotationLineage: "first"}
	if got := continuing(ended); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	third := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{UID: "second", Annotations: want}, Spec: ended.Spec}
	if got := continuing(third); !maps.Equal(got, want) {
		t.Errorf("the third: %v, want %v", got, want)
	}
}

// A list that can grow without a bound would make the Meeting unwritable one day. A list that is full must not switch moderation off.
func TestDecisionsAreBounded(t *testing.T) {
	b := newBehind(t)
	full := b.create("r")
	for i := range v1alpha1.MaxParticipantDecisions {
		full.Spec.Participants = append(full.Spec.Participants, v1alpha1.ParticipantDecision{Identity: fmt.Sprintf("p%d-1", i), Muted: true})
	}
	if err := b.Client.Update(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	b.shows(full.DeepCopy())
	remove := func(d *v1alpha1.ParticipantDecision) { d.Removed = true }
	if err := b.decide(t, string(full.UID), "p1-2", remove); err != nil {
		t.Errorf("one who is listed: %v", err)
	}
	if err := b.decide(t, string(full.UID), "eve-1", remove); err != nil {
		t.Errorf("a removal more: %v", err)
	}
	now := b.read(full).Spec.Participants
	if len(now) != v1alpha1.MaxParticipantDecisions || now[0].Identity != "p1-1" || now[len(now)-1].Identity != "eve-1" {
		t.Errorf("%d decisions, from %q to %q", len(now), now[0].Identity, now[len(now)-1].Identity)
	}
	if _, err := b.Change(t.Context(), b.tenant, string(full.UID), always(func(spec *v1alpha1.MeetingSpec) {
		for i := range spec.Participants {
			spec.Participants[i] = v1alpha1.ParticipantDecision{Identity: spec.Participants[i].Identity, Removed: true}
		}
	})); err != nil {
		t.Fatal(err)
	}
	admit := func(d *v1alpha1.ParticipantDecision) { d.Admitted = true }
	if err := b.decide(t, string(full.UID), "ann-1", admit); !fault.Is(err, fault.KindConflict) {
		t.Errorf("an admission where nothing may give way: %v", err)
	}
}

// The lineage must outlast a restore, which gives the Meeting another UID, and is there from the first write on.
func TestLineageIsWrittenAtCreation(t *testing.T) {
	b := newBehind(t)
	var lineages []string
	for _, room := range []string{"one", "other"} {
		d := draftOf(b.tenant, CreateCommand{Room: room})
		m, err := b.createFrom(t.Context(), b.tenant, &d)
		if err != nil {
			t.Fatal(err)
		}
		now := b.read(m)
		lineages = append(lineages, now.Annotations[v1alpha1.AnnotationLineage])
		if now.ResourceVersion != m.ResourceVersion || lineages[len(lineages)-1] == "" || meeting.Lineage(now) != meeting.Lineage(m) {
			t.Errorf("%s has the annotations %v", room, now.Annotations)
		}
	}
	if lineages[0] == lineages[1] {
		t.Errorf("two rooms have the lineage %q", lineages[0])
	}
}
