// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

const (
	// editsPerSequence is how many edits a sequence has, concurrentSequences how many go on at once.
	editsPerSequence    = 14
	concurrentSequences = 8
	// staysFor is how long a settled world is watched for writes.
	staysFor = 5 * time.Second
	// countsFollow is within what time the counts of ConferenceConfigs and MediaServers are written when rooms have changed.
	countsFollow = 12 * time.Second
)

// TestRandomEdits edits Meetings and ConferenceConfigs at random, some while the manager is killed. After the last edit
// the world becomes what the model says, and then nothing is written any more.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	sequences := 12
	if thorough {
		sequences = 300
	}
	teams := newTeams(t)
	all := make([]*sequence, sequences)
	next := make(chan int)
	var workers sync.WaitGroup
	for range concurrentSequences {
		workers.Go(func() {
			for i := range next {
				all[i].run(t.Context())
			}
		})
	}
	for i := range sequences {
		all[i] = newSequence(teams[i%len(teams)], i)
		next <- i
		if i%20 == 10 {
			teams[0].manager.Kill()
			teams[0].manager.Start(t)
		}
	}
	close(next)
	workers.Wait()
	last := time.Now()
	teams[0].eventually(t, func() error {
		for _, s := range all {
			meetings, err := s.meetings()
			if err != nil {
				return err
			}
			if err := s.settled(meetings); err != nil {
				return fmt.Errorf("sequence %d: %w\nafter:\n%s", s.number, err, strings.Join(s.log, "\n"))
			}
		}
		return nil
	})
	took := time.Since(last)
	teams[0].still(t)
	for _, w := range teams {
		w.unbroken(t)
	}
	for _, s := range all {
		summary.tried("random edits of objects", "sequences against a model", "all at once", s.failed == nil, took)
		if s.failed != nil {
			t.Errorf("sequence %d: %v", s.number, s.failed)
		}
	}
}

// newTeams is one world as two teams see it that do not know of each other: each has a namespace and a key of LiveKit's API, and
// writes the address of the LiveKit that they share in its own way. Their ConferenceConfigs, Meetings and rooms have the same
// names.
func newTeams(t *testing.T) []*world {
	t.Helper()
	key, secret := "key-of-the-other-team", "secret-of-the-other-team-0123456789"
	one := newWorld(t, testkit.OwnControlPlane(t), options{keys: map[string]string{key: secret}, args: []string{"--namespace="}})
	other := *one
	cluster := *one.Cluster
	cluster.Namespace = one.NewNamespace(t)
	other.Cluster = &cluster
	other.mediaURL = strings.Replace(one.mediaURL, "127.0.0.1", "LOCALHOST", 1) + "/"
	other.history = watchHistory(t, &other)
	other.Secret(t, v1alpha1.UsedByConferenceConfig, "api", map[string]string{"key": "key-of-the-other-backend-0123456789"})
	other.Secret(t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": key, "apiSecret": secret})
	other.Create(t, testkit.MediaServer(other.Namespace, other.mediaURL))
	return []*world{one, &other}
}

// still fails the test when anything is written while nothing changes.
func (w *world) still(t *testing.T) {
	t.Helper()
	before := -1
	r := w.record("", nil)
	w.eventually(t, func() error {
		writes, _ := r.all()
		if quiet := len(writes) == before; quiet {
			return nil
		}
		before = len(writes)
		pause(t.Context(), countsFollow)
		return errors.New("the world does not come to rest")
	})
	r = w.record("", nil)
	pause(t.Context(), staysFor)
	if writes, _ := r.all(); len(writes) > 0 {
		t.Errorf("%d writes while nothing changed: %q", len(writes), writes)
	}
}

// sequence edits objects of its own, and has the model of what has to come of it.
type sequence struct {
	*world
	number  int
	random  *rand.Rand
	config  string
	serves  bool
	media   bool
	longest v1alpha1.Duration
	objects map[string]*object
	log     []string
	failed  error
}

// object is what the model knows of a Meeting.
type object struct {
	room     string
	duration v1alpha1.Duration
	// over are the reasons for which it has ended; none while it has not.
	over []v1alpha1.EndReason
}

// mayBeGone forgives that a Meeting is not there any more, if it has ended: a later one of its room takes it along.
func (o *object) mayBeGone(err error) error {
	if o.over == nil {
		return err
	}
	return client.IgnoreNotFound(err)
}

func newSequence(w *world, n int) *sequence {
	return &sequence{
		world: w, number: n, random: rand.New(rand.NewPCG(7, uint64(n))), config: fmt.Sprint("seq", n/2), objects: map[string]*object{},
	}
}

func (s *sequence) run(ctx context.Context) {
	s.createConfig(ctx)
	for range editsPerSequence {
		if s.failed != nil {
			return
		}
		s.edit(ctx)
	}
	if !s.serves { // so that most end with one
		s.createConfig(ctx)
	}
}

func (s *sequence) did(err error, format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
	if err != nil && s.failed == nil {
		s.failed = fmt.Errorf("%s: %w", s.log[len(s.log)-1], err)
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// edit does one thing.
func (s *sequence) edit(ctx context.Context) {
	name := fmt.Sprintf("%s-%d", s.config, s.random.IntN(3))
	o := s.objects[name]
	m := s.byHand(name)
	if o == nil {
		s.createMeeting(ctx, m)
		return
	}
	switch s.random.IntN(12) {
	case 0, 1, 2:
		d := pick[v1alpha1.Duration](s.random, "unlimited", "1h", "3h")
		s.did(o.mayBeGone(s.merge(ctx, m, fmt.Sprintf(`{"spec":{"duration":%q}}`, d))), "%s: duration %s", name, d)
		o.duration = d
	case 3:
		s.did(o.mayBeGone(s.merge(ctx, m, `{"spec":{"redirect":"https://example.com/x","maxParticipants":7}}`)), "%s: redirect", name)
	case 4, 5:
		s.did(o.mayBeGone(s.merge(ctx, m, `{"spec":{"end":{}}}`)), "%s: end", name)
		if o.over == nil {
			o.over = []v1alpha1.EndReason{v1alpha1.EndRequested}
		}
	case 6:
		s.did(o.mayBeGone(s.merge(ctx, m, `{"metadata":{"annotations":{"edited":"yes"}}}`)), "%s: annotated", name)
	case 7, 8:
		s.did(o.mayBeGone(s.Client.Delete(ctx, m)), "%s: deleted", name)
		s.did(s.awaitGone(ctx, m), "%s: gone", name)
		delete(s.objects, name)
		s.createMeeting(ctx, s.byHand(name))
	case 9:
		if s.serves {
			s.deleteConfig(ctx)
		} else {
			s.createConfig(ctx)
		}
	case 10, 11:
		if s.serves {
			s.changeConfig(ctx)
		}
	}
}

func (s *sequence) createMeeting(ctx context.Context, m *v1alpha1.Meeting) {
	m.Spec.ConfigRef.Name = s.config
	m.Spec.Room = s.config + "-" + pick(s.random, "a", "b")
	m.Spec.Duration = pick[v1alpha1.Duration](s.random, "", "1h", "unlimited")
	s.did(s.Client.Create(ctx, m), "%s: created in room %s for %q", m.Name, m.Spec.Room, m.Spec.Duration)
	s.objects[m.Name] = &object{room: m.Spec.Room, duration: m.Spec.Duration}
}

func (s *sequence) createConfig(ctx context.Context) {
	c := s.newConfig(s.config, "http://"+s.config+"."+s.Namespace+".example")
	// What has ended does not go while the test looks on.
	c.Spec.Meetings = &v1alpha1.MeetingsSpec{TTLSecondsAfterEnded: ptr.To(int32(3600))}
	s.did(s.Client.Create(ctx, c), "config created")
	s.did(s.await(ctx, s.configServes(s.config)), "config serves")
	s.serves, s.media, s.longest = true, true, ""
}

// deleteConfig ends what is live in it, and waits for that: a ConferenceConfig that is made again at once may find its meetings going on.
func (s *sequence) deleteConfig(ctx context.Context) {
	c := s.newConfig(s.config, "")
	s.did(s.await(ctx, s.allServed), "config's meetings served")
	s.did(s.Client.Delete(ctx, c), "config deleted")
	s.did(s.await(ctx, s.allOver), "config's meetings over")
	s.serves = false
	for _, o := range s.objects {
		o.over = append(o.over, v1alpha1.EndDeleted)
	}
}

// allServed: a Meeting that nobody has looked at waits for the next ConferenceConfig.
func (s *sequence) allServed() error {
	return s.each(func(m v1alpha1.Meeting) bool { return m.Status.URL != "" })
}

func (s *sequence) allOver() error {
	return s.each(func(m v1alpha1.Meeting) bool { return m.Status.Phase == v1alpha1.MeetingEnded })
}

func (s *sequence) each(is func(v1alpha1.Meeting) bool) error {
	all, err := s.meetings()
	for _, m := range all {
		if m.Spec.ConfigRef.Name == s.config && !is(m) {
			err = fmt.Errorf("%s is %s with URL %q", m.Name, m.Status.Phase, m.Status.URL)
		}
	}
	return err
}

func (s *sequence) changeConfig(ctx context.Context) {
	c := s.newConfig(s.config, "")
	if s.random.IntN(2) == 0 {
		s.longest = pick[v1alpha1.Duration](s.random, "", "2h")
		s.did(s.merge(ctx, c, fmt.Sprintf(`{"spec":{"meetings":{"maxDuration":%s}}}`, strings.Replace(fmt.Sprintf("%q", s.longest), `""`, "null", 1))),
			"config: maxDuration %s", s.longest)
		return
	}
	s.media = !s.media
	media := "null"
	if s.media {
		media = `[{"name":"livekit"}]`
	}
	s.did(s.merge(ctx, c, `{"spec":{"mediaRefs":`+media+`}}`), "config: media %t", s.media)
}

func (s *sequence) merge(ctx context.Context, o client.Object, text string) error {
	return s.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(text)))
}

func (s *sequence) awaitGone(ctx context.Context, o client.Object) error {
	return s.await(ctx, func() error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s is still there: %w", o.GetName(), err)
		}
		return nil
	})
}

func (s *sequence) await(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := check()
		if err == nil || !pause(ctx, tryAgainAfter) {
			return err
		}
	}
}

// settled says in what the cluster differs from the model.
func (s *sequence) settled(all []v1alpha1.Meeting) error {
	holders := map[string]*v1alpha1.Meeting{}
	var own []*v1alpha1.Meeting
	found := map[string]bool{}
	for i := range all {
		m := &all[i]
		o := s.objects[m.Name]
		if o == nil {
			if m.Spec.ConfigRef.Name == s.config {
				return fmt.Errorf("%s should be gone", m.Name)
			}
			continue
		}
		own, found[m.Name] = append(own, m), true
		h := holders[o.room]
		if o.over == nil && (h == nil || m.CreationTimestamp.Before(&h.CreationTimestamp) ||
			m.CreationTimestamp.Equal(&h.CreationTimestamp) && m.UID < h.UID) {
			holders[o.room] = m
		}
	}
	for name, o := range s.objects {
		if !found[name] && o.over == nil {
			return fmt.Errorf("%s is missing", name)
		}
	}
	for _, m := range own {
		if err := s.asModelled(m, s.objects[m.Name], holders[m.Spec.Room] == m); err != nil {
			return fmt.Errorf("%s: %w; it is %+v", m.Name, err, m.Status)
		}
	}
	c, err := s.getConfig(s.config)
	if err == nil && c.Status.Meetings != int32(len(holders)) {
		err = fmt.Errorf("the config counts %d meetings, want %d", c.Status.Meetings, len(holders))
	}
	return err
}

func (s *sequence) asModelled(m *v1alpha1.Meeting, o *object, holds bool) error {
	if o.over != nil {
		if m.Status.Phase != v1alpha1.MeetingEnded || !slices.Contains(o.over, m.Status.EndReason) {
			return fmt.Errorf("want it ended, %q", o.over)
		}
		return nil
	}
	phase, reason := v1alpha1.MeetingActive, v1alpha1.ReasonOpen
	switch {
	case !holds:
		phase, reason = v1alpha1.MeetingPending, v1alpha1.ReasonRoomTaken
	case !s.media:
		phase, reason = v1alpha1.MeetingPending, v1alpha1.ReasonNoMedia
	}
	if m.Status.Phase != phase || readyReason(m) != reason {
		return fmt.Errorf("want it %s, %s", phase, reason)
	}
	duration := o.duration
	if duration == "" {
		duration = "unlimited"
	}
	if s.longest != "" && duration != "1h" {
		duration = s.longest // all others are longer
	}
	if m.Status.Duration != duration || m.Status.ObservedGeneration != m.Generation || len(m.Finalizers) > 0 {
		return fmt.Errorf("want duration %s in force, generation %d, and no finalizer; there are %q", duration, m.Generation, m.Finalizers)
	}
	return nil
}

func readyReason(m *v1alpha1.Meeting) string {
	for _, c := range m.Status.Conditions {
		if c.Type == v1alpha1.ConditionReady {
			return c.Reason
		}
	}
	return ""
}
