// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func tenantNamed(name string) *tenant.Tenant {
	return &tenant.Tenant{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

func aMeeting(uid, config, room string, born, version int) *v1alpha1.Meeting {
	m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "m-" + uid, UID: types.UID(uid), ResourceVersion: strconv.Itoa(version),
		CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(born) * time.Second)),
	}}
	m.Spec.Room, m.Spec.ConfigRef.Name = room, config
	return m
}

// naive works the same out from all Meetings, as slowly and plainly as can be.
func naive(all map[types.UID]*v1alpha1.Meeting, config string) (live []string, totals meeting.Totals) {
	holders := map[string]*v1alpha1.Meeting{}
	for _, m := range all {
		if m.Spec.ConfigRef.Name != config || meeting.IsOver(m) {
			continue
		}
		if h := holders[m.Spec.Room]; h == nil || meeting.Older(m, h) {
			holders[m.Spec.Room] = m
		}
	}
	sorted := slices.SortedFunc(maps.Values(holders), byAge)
	for _, m := range sorted {
		if !meeting.IsLeaving(m) {
			live = append(live, string(m.UID))
			totals.Rooms++
			totals.Users += int(m.Status.ParticipantCount)
		}
	}
	return live, totals
}

func TestDirectoryAgreesWithANaiveModel(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		d, all := newDirectory(Options{}), map[types.UID]*v1alpha1.Meeting{}
		for step := range 150 {
			change(random, d, all, step)
			for _, config := range []string{"a", "b"} {
				// Not after every step: how a listing is kept depends on whether there is one.
				if random.IntN(3) > 0 {
					continue
				}
				live, totals := naive(all, config)
				var got []string
				p := meeting.Page{Limit: random.IntN(4)}
				for ok := true; ok; ok = p.After != (meeting.Cursor{}) {
					var page iter.Seq[*meeting.View]
					page, p.After = d.Live(t.Context(), tenantNamed(config), p)
					for v := range page {
						got = append(got, v.UID)
					}
				}
				if diff := cmp.Diff(live, got); diff != "" {
					t.Fatalf("seed %d, step %d: listing (-want +got):\n%s", seed, step, diff)
				}
				if diff := cmp.Diff(totals, d.Totals(tenantNamed(config))); diff != "" {
					t.Fatalf("seed %d, step %d: totals (-want +got):\n%s", seed, step, diff)
				}
				if diff := cmp.Diff(naivePhases(all, config), phasesOf(d, config)); diff != "" {
					t.Fatalf("seed %d, step %d: phases (-want +got):\n%s", seed, step, diff)
				}
			}
		}
	}
}

func naivePhases(all map[types.UID]*v1alpha1.Meeting, config string) map[v1alpha1.MeetingPhase]int {
	counts := map[v1alpha1.MeetingPhase]int{}
	for _, m := range all {
		if m.Spec.ConfigRef.Name == config {
			counts[m.Status.Phase]++
		}
	}
	return counts
}

// phasesOf counts the Meetings of each phase. Ending ones are counted in both ways.
func phasesOf(d *Directory, config string) map[v1alpha1.MeetingPhase]int {
	counts := map[v1alpha1.MeetingPhase]int{}
	for _, p := range d.Phases() {
		if p.Config.Name != config {
			continue
		}
		for phase, n := range p.Counts {
			if counts[phase] = n; phase == v1alpha1.MeetingEnding && len(p.Ending) != n {
				counts["listed as ending"] = len(p.Ending)
			}
		}
	}
	return counts
}

// change does one random thing to a Meeting, and tells the directory.
func change(random *rand.Rand, d *Directory, all map[types.UID]*v1alpha1.Meeting, step int) {
	uids := slices.Sorted(maps.Keys(all))
	chosen := random.IntN(12)
	if chosen >= len(uids) {
		uid := types.UID(fmt.Sprint("made-", step))
		m := aMeeting(string(uid), []string{"a", "b"}[random.IntN(2)], fmt.Sprint("room", random.IntN(4)), random.IntN(step+1), step+1)
		all[uid] = m
		d.changed(m)
		return
	}
	uid := uids[chosen]
	old := all[uid]
	if random.IntN(5) == 0 {
		delete(all, uid)
		d.gone(old)
		return
	}
	m := old.DeepCopy()
	m.ResourceVersion = strconv.Itoa(step + 1)
	switch random.IntN(4) {
	case 0:
		m.Spec.End = &v1alpha1.MeetingEnd{}
	case 1:
		m.Status.Phase = []v1alpha1.MeetingPhase{v1alpha1.MeetingEnding, v1alpha1.MeetingEnded}[random.IntN(2)]
	default:
		m.Status.ParticipantCount = int32(random.IntN(5))
	}
	all[uid] = m
	if random.IntN(3) == 0 { // It is a write of this replica, and the cache is behind.
		d.Learn(m)
		d.changed(old)
	}
	if random.IntN(3) > 0 {
		d.changed(m)
	} else {
		d.Learn(m)
	}
}

// TestAPageHasARoomOnce replaces the meeting of a room that is on a page, before the page is read.
func TestAPageHasARoomOnce(t *testing.T) {
	d, version := newDirectory(Options{}), 0
	add := func(uid, room string, born int, change func(*v1alpha1.Meeting)) {
		version++
		m := aMeeting(uid, "a", room, born, version)
		change(m)
		d.changed(m)
	}
	stays := func(*v1alpha1.Meeting) {}
	for i := range 4 {
		add(fmt.Sprint(i), fmt.Sprint("room ", i), i, stays)
	}
	var got []string
	p := meeting.Page{Limit: 2}
	for first := true; first || p.After != (meeting.Cursor{}); first = false {
		page, next := d.Live(t.Context(), tenantNamed("a"), p)
		if first {
			add("0", "room 0", 0, func(m *v1alpha1.Meeting) { m.Status.Phase = v1alpha1.MeetingEnded })
			add("next", "room 0", 9, stays)
		}
		for v := range page {
			got = append(got, v.UID)
		}
		p.After = next
	}
	if want := []string{"1", "2", "3", "next"}; !slices.Equal(got, want) {
		t.Errorf("the pages have %q, want %q", got, want)
	}
}

func (d *Directory) lists(t *testing.T, when, config string, want ...string) {
	t.Helper()
	var got []string
	live, _ := d.Live(t.Context(), tenantNamed(config), meeting.Page{})
	for v := range live {
		got = append(got, v.UID+"@"+d.WithUID(v.UID).ResourceVersion)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s, tenant %s has %v, want %v", when, config, got, want)
	}
}

// TestWhatIsLearnedTakesNoMoreThanTheCache: what others wrote on a Meeting is not kept, nor a Meeting that the cache has no memory for.
func TestWhatIsLearnedTakesNoMoreThanTheCache(t *testing.T) {
	full := false
	d := newDirectory(Options{IsFull: func(string) bool { return full }})
	m := aMeeting("0", "a", "board", 0, 1)
	m.Annotations = map[string]string{"notes": "long"}
	d.Learn(m)
	if got := d.WithUID("0"); got == nil || len(got.Annotations) > 0 || len(m.Annotations) != 1 {
		t.Errorf("%+v is kept of %+v", got, m)
	}
	full = true
	d.Learn(aMeeting("1", "a", "another", 0, 2))
	newer := aMeeting("0", "a", "board", 0, 3)
	newer.Spec.Locked = new(true)
	d.Learn(newer)
	if got := d.WithUID("0"); d.WithUID("1") != nil || got.Spec.Locked == nil {
		t.Errorf("in a full namespace: %+v, and %+v", d.WithUID("1"), got)
	}
}

// TestHowManyMeetingsATenantHas: those that have ended count too, because all are kept.
func TestHowManyMeetingsATenantHas(t *testing.T) {
	full := false
	d, of := newDirectory(Options{IsFull: func(namespace string) bool { return full && namespace == "ns" }}), tenantNamed("a")
	has := func(why string, most int, want bool) {
		t.Helper()
		if got := d.HasRoomFor(of, most); got != want {
			t.Errorf("%s: there is room for one more: %t", why, got)
		}
	}
	has("nothing", 1, true)
	d.changed(aMeeting("0", "a", "board", 0, 1))
	d.changed(aMeeting("1", "b", "board", 0, 2))
	has("one", 1, false)
	has("one of two", 2, true)
	for i := range maxEnded + 1 {
		m := aMeeting(fmt.Sprint("ended", i), "a", fmt.Sprint("room", i), i, i+3)
		m.Status.Phase = v1alpha1.MeetingEnded
		d.changed(m)
	}
	has("one and too many that have ended", 2, false)
	has("more may be live", 100, true)
	full = true
	has("the namespace is full", 100, false)
}

func TestOwnWritesAreShownAtOnce(t *testing.T) {
	d := newDirectory(Options{})
	written := aMeeting("1", "a", "board", 0, 7)
	d.Learn(written)
	d.lists(t, "after a write", "a", "1@7")
	d.lists(t, "after a write to another's", "b")
	d.changed(aMeeting("1", "a", "board", 0, 6))
	d.lists(t, "while the cache shows an older state", "a", "1@7")
	d.changed(written)
	d.changed(aMeeting("1", "a", "board", 0, 9))
	d.lists(t, "after another's change", "a", "1@9")
	d.Learn(aMeeting("1", "a", "board", 0, 8))
	d.lists(t, "after an answer that came late", "a", "1@9")
	d.gone(aMeeting("1", "a", "board", 0, 10))
	d.Learn(aMeeting("1", "a", "board", 0, 9))
	d.lists(t, "after the end", "a")
	if len(d.pending) > 0 {
		t.Errorf("writes that the cache has shown are kept: %v", d.pending)
	}
}

// What was written and deleted while the cache did not look is not shown for ever.
func TestLostWritesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirectory(Options{})
		d.Learn(aMeeting("1", "a", "board", 0, 7))
		d.changed(aMeeting("2", "a", "other", 1, 9))
		d.lists(t, "while the cache may still bring it", "a", "1@7", "2@9")
		time.Sleep(pendingLife + time.Second) //nolint:forbidigo // the time of synctest
		d.lists(t, "while the cache brings nothing", "a", "1@7", "2@9")
		d.changed(aMeeting("2", "a", "other", 1, 10))
		d.lists(t, "after newer versions", "a", "2@10")
		if len(d.pending) > 0 || len(d.byUID) != 1 || len(d.byName) != 1 {
			t.Errorf("something is left: %v, %v, %v", d.pending, d.byUID, d.byName)
		}
	})
}

// A config of which nothing is left takes no memory.
func TestShelvesOfTenantsThatAreGoneAreForgotten(t *testing.T) {
	d := newDirectory(Options{})
	for _, config := range []string{"a", "b"} {
		d.changed(aMeeting(config, config, "board", 0, 1))
	}
	d.gone(aMeeting("a", "a", "board", 0, 2))
	if len(d.tenants) != 1 {
		t.Errorf("%d tenants for one tenant", len(d.tenants))
	}
	d.lists(t, "after the end", "a")
	d.changed(aMeeting("c", "a", "board", 0, 3))
	d.lists(t, "after the next", "a", "c@3")
}

// filled is a directory of n live Meetings with 10 people each.
func filled(n int) *Directory {
	d := newDirectory(Options{})
	for i := range n {
		m := aMeeting(strconv.Itoa(i), "a", fmt.Sprint("room ", i), i, i+1)
		m.Status.Phase, m.Status.ParticipantCount = v1alpha1.MeetingActive, 10
		for p := range 10 {
			m.Status.Participants = append(m.Status.Participants, v1alpha1.Participant{Identity: fmt.Sprint(p), Name: "Sam"})
		}
		d.changed(m)
	}
	return d
}

func BenchmarkTotals(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		d, t := filled(n), tenantNamed("a")
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				d.Totals(t)
			}
		})
	}
}

func BenchmarkViews(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		for _, limit := range []int{0, 10} {
			d, t := filled(n), tenantNamed("a")
			b.Run(fmt.Sprintf("%d of %d", limit, n), func(b *testing.B) {
				for b.Loop() {
					live, _ := d.Live(b.Context(), t, meeting.Page{Limit: limit})
					for range live {
					}
				}
			})
		}
	}
}
