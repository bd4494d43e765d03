// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit/faultyengine"
)

func people(n int32) func(*v1alpha1.Meeting) bool {
	return func(m *v1alpha1.Meeting) bool { return m.Status.ParticipantCount == n }
}

func because(reason v1alpha1.EndReason) func(*v1alpha1.Meeting) bool {
	return func(m *v1alpha1.Meeting) bool { return m.Status.EndReason == reason }
}

func (w *world) gone(name string) {
	w.t.Helper()
	w.eventually(func() error {
		err := w.Client.Get(context.Background(), client.ObjectKey{Namespace: w.Namespace, Name: name}, &v1alpha1.Meeting{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s is still there (%w)", name, err)
		}
		return nil
	})
}

func (w *world) configSays(condition, reason string) {
	w.t.Helper()
	w.eventually(func() error {
		var c v1alpha1.ConferenceConfig
		if err := w.Client.Get(context.Background(), client.ObjectKey{Namespace: w.Namespace, Name: "default"}, &c); err != nil {
			return err
		}
		if got := meta.FindStatusCondition(c.Status.Conditions, condition); got == nil || got.Reason != reason {
			return fmt.Errorf("conditions are:\n%s", describe(c.Status))
		}
		return nil
	})
}

// A whole life: the clock is set forward from one deadline to the next.
func TestLifeOfAMeeting(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	w.configSays(v1alpha1.ConditionReady, v1alpha1.ReasonServing)
	m := w.meeting("standup")
	w.is("standup", v1alpha1.MeetingActive)
	name := w.enter(c, m, "anna", "tom")
	w.is("standup", v1alpha1.MeetingActive, people(2), func(m *v1alpha1.Meeting) bool { return m.Status.StartTime != nil })
	w.engine.Set(name)
	w.observer.Hint(name)
	w.is("standup", v1alpha1.MeetingActive, people(0))
	w.pass(5 * time.Minute)
	w.is("standup", v1alpha1.MeetingEnded, because(v1alpha1.EndEmpty))
	w.pass(23 * time.Hour)
	w.is("standup", v1alpha1.MeetingEnded)
	w.pass(time.Hour + 10*time.Second)
	w.gone("standup")
}

// The engine lost its rooms: nothing ends, and who comes back is back.
func TestEngineRestarts(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m")
	name := w.enter(c, m, "anna")
	started := w.is("m", v1alpha1.MeetingActive, people(1))
	w.engine.Lose()
	w.observer.Hint(name)
	w.is("m", v1alpha1.MeetingActive, people(0))
	w.pass(4 * time.Minute)
	w.engine.Set(name, "anna")
	w.observer.Hint(name)
	again := w.is("m", v1alpha1.MeetingActive, people(1))
	if !again.Status.StartTime.Equal(started.Status.StartTime) {
		t.Errorf("it began at %v, and then at %v", started.Status.StartTime, again.Status.StartTime)
	}
}

// An end that the engine does not carry out at once is tried until it does.
func TestCloseIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m")
	w.enter(c, m, "anna")
	w.is("m", v1alpha1.MeetingActive, people(1))
	w.engine.Break("close", faultyengine.ErrUnavailable)
	w.engine.Took()
	w.patch(m, `{"spec":{"end":{}}}`)
	w.is("m", v1alpha1.MeetingEnding, because(v1alpha1.EndRequested))
	w.eventually(func() error {
		if n := w.engine.Count("close"); n < 2 {
			return fmt.Errorf("closed %d times", n)
		}
		return nil
	})
	w.engine.Break("close", nil)
	w.is("m", v1alpha1.MeetingEnded, people(0))
}

// A participant comes whom the last look did not see: no end for want of people may rest on that look.
func TestArrivalJustBeforeAnEnd(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*v1alpha1.Meeting)
		// before is who came and left again.
		before []string
		wait   time.Duration
	}{
		{"the expiry", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1h" }, nil, time.Hour},
		{"the end of an unjoined one", func(*v1alpha1.Meeting) {}, nil, 24 * time.Hour},
		{"the end of an empty one", func(*v1alpha1.Meeting) {}, []string{"tom"}, 5*time.Minute + time.Second},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t)
			c := w.config()
			m := w.meeting("m", tc.change)
			w.is("m", v1alpha1.MeetingActive)
			name := w.enter(c, m, tc.before...)
			if tc.before != nil {
				w.is("m", v1alpha1.MeetingActive, people(1))
				w.engine.Set(name)
				w.observer.Hint(name)
				w.is("m", v1alpha1.MeetingActive, people(0))
			}
			w.eventually(func() error {
				if seen := w.observer.Seen(w.media(c), name); !seen.Known || !seen.RoomExists || len(seen.Participants) > 0 {
					return fmt.Errorf("the empty room has not been seen: %+v", seen)
				}
				return nil
			})
			w.engine.Set(name, "anna") // no hint: the next look may be a second away
			w.pass(tc.wait)
			got := w.is("m", v1alpha1.MeetingActive, people(1))
			if m.Spec.Duration != "" && got.Status.ExpiryTime.Before(&metav1.Time{Time: w.now().Add(30 * time.Minute)}) {
				t.Errorf("it expires at %v", got.Status.ExpiryTime)
			}
		})
	}
}

// Younger Meetings of a room wait for it, oldest first.
func TestRoomGoesFromOneToTheNext(t *testing.T) {
	w := newWorld(t)
	w.config()
	taken := func(m *v1alpha1.Meeting) { m.Spec.Room = "shared" }
	w.meeting("one", taken)
	w.is("one", v1alpha1.MeetingActive)
	w.meeting("two", taken)
	w.meeting("three", taken)
	holders := func() (open []string) {
		var all v1alpha1.MeetingList
		w.must(w.Client.List(t.Context(), &all, client.InNamespace(w.Namespace)))
		for i := range all.Items {
			ready := meta.FindStatusCondition(all.Items[i].Status.Conditions, v1alpha1.ConditionReady)
			switch {
			case ready == nil, ready.Reason == v1alpha1.ReasonEnded:
			case ready.Status == metav1.ConditionTrue:
				open = append(open, all.Items[i].Name)
			case ready.Reason != v1alpha1.ReasonRoomTaken:
				open = append(open, all.Items[i].Name+" is "+ready.Reason)
			}
		}
		return open
	}
	for left := 3; left > 0; left-- {
		var holder string
		w.eventually(func() error {
			open := holders()
			if len(open) != 1 || strings.Contains(open[0], " ") {
				return fmt.Errorf("open are %q", open)
			}
			holder = open[0]
			return nil
		})
		w.patch(&v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: holder}}, `{"spec":{"end":{}}}`)
		w.is(holder, v1alpha1.MeetingEnded, because(v1alpha1.EndRequested))
	}
}

// Whatever is deleted goes at once, in any order. The participants are sent away all the same.
func TestWhatIsDeletedDoesNotWait(t *testing.T) {
	const redirect = "https://example.com/after"
	meetings, configs, servers, secrets := &v1alpha1.Meeting{}, &v1alpha1.ConferenceConfig{}, &v1alpha1.MediaServer{}, &corev1.Secret{}
	for name, order := range map[string][]client.Object{
		"a Meeting": {meetings}, "a ConferenceConfig": {configs}, "a MediaServer and Secrets first": {servers, secrets, configs, meetings},
		"a Meeting first": {meetings, configs}, "a ConferenceConfig first": {configs, meetings},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.config()
			m := w.meeting("m", func(m *v1alpha1.Meeting) { m.Spec.Redirect = redirect })
			room := w.enter(c, m, "anna")
			w.is("m", v1alpha1.MeetingActive, people(1))
			for _, kind := range order {
				w.must(w.Client.DeleteAllOf(t.Context(), kind.DeepCopyObject().(client.Object), client.InNamespace(w.Namespace)))
			}
			for key, o := range map[string]client.Object{"m": meetings, c.Name: configs} {
				err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: key}, o.DeepCopyObject().(client.Object))
				if slices.Contains(order, o) && !apierrors.IsNotFound(err) {
					t.Errorf("%s is still there (%v)", key, err)
				}
			}
			w.eventually(func() error {
				if left, to := w.engine.Left(), w.engine.SentTo(room); slices.Contains(left, room) || to != redirect {
					return fmt.Errorf("there are the rooms %q; people were sent to %q", left, to)
				}
				return nil
			})
			if slices.Contains(order, client.Object(meetings)) {
				w.eventually(func() error {
					if out := w.Kubectl(t, "get", "events", "-o", "jsonpath={.items[*].message}"); !strings.Contains(out, meeting.DeletedMessage) {
						return fmt.Errorf("Events say %s", out)
					}
					return nil
				})
			} else {
				w.is("m", v1alpha1.MeetingEnded, because(v1alpha1.EndDeleted))
				if left := w.engine.Left(); len(left) != 0 {
					t.Errorf("it has ended, and there are the rooms %q", left)
				}
			}
		})
	}
}

// A Meeting that waits for its ConferenceConfig has not lost one: it opens when there is one.
func TestAMeetingMayBeThereFirst(t *testing.T) {
	w := newWorld(t)
	w.meeting("m")
	w.is("m", v1alpha1.MeetingPending)
	w.touch()
	w.config()
	w.is("m", v1alpha1.MeetingActive)
}

// Somebody else's finalizer may keep a ConferenceConfig and its Meetings: the Meetings end all the same.
func TestConfigThatOthersKeep(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m")
	w.enter(c, m, "anna")
	w.is("m", v1alpha1.MeetingActive, people(1))
	w.patch(c, `{"metadata":{"finalizers":["example.com/kept"]}}`)
	w.must(w.Client.Delete(t.Context(), c))
	w.configSays(v1alpha1.ConditionReady, v1alpha1.ReasonDeleting)
	w.is("m", v1alpha1.MeetingEnded, because(v1alpha1.EndDeleted))
	w.patch(c, `{"metadata":{"finalizers":null}}`)
}

// Objects of earlier versions have a finalizer. It goes, and so do objects that are waiting for it.
func TestFinalizersOfEarlierVersionsGo(t *testing.T) {
	w := newWorld(t)
	had := []string{v1alpha1.Finalizer}
	deleted := w.meeting("deleted", func(m *v1alpha1.Meeting) { m.Finalizers = had })
	w.must(w.Client.Delete(t.Context(), deleted))
	w.gone("deleted")
	w.meeting("kept", func(m *v1alpha1.Meeting) { m.Finalizers = append([]string{"example.com/kept"}, had...) })
	c := w.config()
	w.patch(c, `{"metadata":{"finalizers":["`+v1alpha1.Finalizer+`"]}}`)
	w.is("kept", v1alpha1.MeetingActive, func(m *v1alpha1.Meeting) bool { return slices.Equal(m.Finalizers, []string{"example.com/kept"}) })
	w.eventually(func() error {
		if err := w.Client.Get(context.Background(), client.ObjectKeyFromObject(c), c); err != nil || len(c.Finalizers) > 0 {
			return fmt.Errorf("the ConferenceConfig has the finalizers %q (%w)", c.Finalizers, err)
		}
		return nil
	})
	w.patch(&v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "kept"}}, `{"metadata":{"finalizers":null}}`)
}

// What is written is written once: a Meeting in which nothing happens costs nothing.
func TestNothingIsWrittenWhileNothingHappens(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m")
	name := w.enter(c, m, "anna")
	before := w.is("m", v1alpha1.MeetingActive, people(1))
	w.eventually(func() error { // until what the arrival led to is written
		now := w.is("m", v1alpha1.MeetingActive)
		settled := now.ResourceVersion == before.ResourceVersion
		before = now
		if !settled {
			return fmt.Errorf("still being written")
		}
		return nil
	})
	w.engine.Took()
	w.eventually(func() error {
		w.observer.Hint(name)
		if n := w.engine.Count("participants"); n < 4 {
			return fmt.Errorf("looked %d times", n)
		}
		return nil
	})
	if now := w.is("m", v1alpha1.MeetingActive); now.ResourceVersion != before.ResourceVersion {
		t.Errorf("written from\n%+v\nto\n%+v", before, now)
	}
}

// A link opens a room again that ended with nobody in it. Once that next meeting was ended on request, what there was before
// it must not open the room: the last Meeting alone decides, also after its object has gone.
func TestAnEndedMeetingTakesEarlierOnesOfItsRoomWithIt(t *testing.T) {
	w := newWorld(t)
	w.config()
	inRoom := func(m *v1alpha1.Meeting) { m.Spec.Room = "board" }
	first := w.meeting("first", inRoom, func(m *v1alpha1.Meeting) { m.Spec.Duration = "1m" })
	w.meeting("other-room", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1m" })
	w.is("first", v1alpha1.MeetingActive)
	w.pass(2 * time.Minute)
	w.is("first", v1alpha1.MeetingEnded, because(v1alpha1.EndExpired))
	w.is("other-room", v1alpha1.MeetingEnded)
	w.nextSecond(first)
	next := w.meeting("next", inRoom, func(m *v1alpha1.Meeting) { m.Labels = nil })
	w.is("next", v1alpha1.MeetingActive)
	w.is("first", v1alpha1.MeetingEnded)
	w.patch(next, `{"spec":{"end":{}}}`)
	w.is("next", v1alpha1.MeetingEnded, because(v1alpha1.EndRequested))
	w.gone("first")
	w.is("other-room", v1alpha1.MeetingEnded)
}

// The command that makes the next Meeting of a room could not delete the ended one. That one goes when the next one is settled: else it would have
// its links open the room again after somebody has deleted the next one.
func TestTheNextMeetingTakesEndedOnesOfItsRoomWithIt(t *testing.T) {
	w := newWorld(t)
	w.config()
	stands := func(m *v1alpha1.Meeting) { m.Labels = nil }
	ended := func(name, room string, change ...func(*v1alpha1.Meeting)) {
		m := w.meeting(name, append(change, func(m *v1alpha1.Meeting) { m.Spec.Room = room })...)
		w.is(name, v1alpha1.MeetingActive)
		w.patch(m, `{"spec":{"end":{}}}`)
		w.is(name, v1alpha1.MeetingEnded)
	}
	ended("kept", "after-kept", stands)
	ended("earlier", "next")
	ended("before-standing", "standing")
	w.meeting("after-kept")
	w.meeting("standing", stands)
	next := w.meeting("next")
	for _, live := range []string{"next", "standing", "after-kept"} {
		w.is(live, v1alpha1.MeetingActive)
	}
	w.is("earlier", v1alpha1.MeetingEnded)
	w.pass(next.CreationTimestamp.Add(meeting.PasswordWithin).Sub(w.now()))
	w.gone("earlier")
	w.is("next", v1alpha1.MeetingActive)
	w.is("before-standing", v1alpha1.MeetingEnded) // A standing Meeting may give the room back to it.
	w.is("kept", v1alpha1.MeetingEnded)            // Somebody keeps it.
}
