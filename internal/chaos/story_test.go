// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// story is something that people and programs do, who try again where they are asked to.
type story struct {
	name string
	// change changes the ConferenceConfig of the story's world; nil changes nothing.
	change func(*v1alpha1.ConferenceConfig)
	tell   func(*telling)
	// after puts back what the story changed. Nothing is recorded or broken in it.
	after func(*telling)
}

// telling is one time that a story is told, in a room of its own.
type telling struct {
	*world
	*testing.T
	ctx  context.Context
	room string
}

func (s *telling) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *telling) until(check func() error) {
	s.Helper()
	testkit.Eventually(s.T, patience, check)
}

// enter has a guest come in, and waits until that is in the status.
func (s *telling) enter(password string) *guest {
	s.Helper()
	g := s.guest(s.T, s.room, password)
	s.isIn(g, 1)
	return g
}

// isIn waits until a guest is in, as one of so many people. The status can have the guest before the guest knows.
func (s *telling) isIn(g *guest, people int32) {
	s.Helper()
	s.until(func() error {
		if entries, wrong := g.cameIn(); entries == 0 {
			return fmt.Errorf("the guest has not come in and was answered %q", wrong)
		}
		return s.occupied(s.room, people)()
	})
}

// sentAway waits until the guest knows that the meeting is over.
func (s *telling) sentAway(g *guest) {
	s.Helper()
	select {
	case <-g.over:
	case <-time.After(patience):
		s.Fatal("the guest is still in the meeting")
	}
	if entries, wrong := g.cameIn(); entries == 0 || wrong != "" {
		s.Fatalf("the guest came in %d times and was answered %q", entries, wrong)
	}
}

func (s *telling) gone() {
	s.Helper()
	s.until(s.noneLeft)
}

var stories = []story{
	{name: "create, join, end", tell: func(s *telling) {
		s.must(s.backend.open(s.ctx, map[string]any{
			"room": s.room, "duration": "01:00:00", "roomPassword": "sesame", "redirect": "https://example.com/bye",
		}))
		g := s.enter("sesame")
		s.must(s.backend.end(s.ctx, s.room))
		s.sentAway(g)
		s.gone()
	}},
	startAgain,
	{name: "create, delete", tell: func(s *telling) {
		s.must(s.backend.open(s.ctx, map[string]any{"room": s.room}))
		g := s.enter("")
		m, err := s.ofRoom(s.room)
		s.must(err)
		s.must(s.Client.Delete(s.ctx, m))
		s.sentAway(g)
		s.gone()
	}},
	{name: "create, expire", tell: func(s *telling) {
		s.must(s.backend.open(s.ctx, map[string]any{"room": s.room, "duration": "01:00:00"}))
		g := s.enter("")
		m, err := s.ofRoom(s.room)
		s.must(err)
		s.patch(s, m, `{"spec":{"duration":"4s"}}`)
		s.sentAway(g)
		s.gone()
	}},
	{name: "empty", tell: func(s *telling) {
		s.must(s.backend.open(s.ctx, map[string]any{"room": s.room}))
		g := s.enter("")
		g.leave()
		s.gone()
	}},
	{name: "by hand", tell: func(s *telling) {
		m := s.byHand(s.room)
		s.must(s.Client.Create(s.ctx, m))
		g := s.enter("")
		s.patch(s, m, `{"spec":{"end":{}}}`)
		s.sentAway(g)
		s.gone()
	}},
	{name: "wait, be let in", tell: func(s *telling) {
		m := s.byHand(s.room, func(m *v1alpha1.Meeting) { m.Spec.Admission = v1alpha1.AdmissionAsk })
		s.must(s.Client.Create(s.ctx, m))
		g := s.guest(s.T, s.room, "")
		s.until(func() error {
			m, err := s.ofRoom(s.room)
			if err == nil && m.Status.WaitingCount != 1 {
				err = fmt.Errorf("%d wait", m.Status.WaitingCount)
			}
			return err
		})
		s.patch(s, m, `{"spec":{"admittedUntil":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}}`)
		s.isIn(g, 1)
		s.patch(s, m, `{"spec":{"end":{}}}`)
		s.sentAway(g)
		s.gone()
	}},
	{name: "moderate", tell: moderate},
	{name: "config change", tell: func(s *telling) {
		s.must(s.backend.open(s.ctx, map[string]any{"room": s.room}))
		s.enter("")
		s.patch(s, s.config, `{"spec":{"meetings":{"maxDuration":"2h"}}}`)
		s.until(func() error {
			m, err := s.ofRoom(s.room)
			if err == nil && m.Status.Duration != "2h" {
				err = fmt.Errorf("the duration in force is %s", m.Status.Duration)
			}
			return errors.Join(err, s.configServes("default")(), s.quiet())
		})
	}, after: func(s *telling) {
		s.patch(s, s.config, `{"spec":{"meetings":{"maxDuration":null}}}`)
		s.must(s.backend.end(s.ctx, s.room))
		s.gone()
	}},
	{name: "a tenant comes and goes", tell: func(s *telling) {
		c := s.newConfig(s.room, "http://"+s.room+".example")
		c.Spec.Meetings = nil // what has ended stays, with the config or without
		s.must(s.Client.Create(s.ctx, c))
		s.until(s.configServes(c.Name))
		m := s.byHand(s.room, func(m *v1alpha1.Meeting) { m.Spec.ConfigRef.Name = c.Name })
		s.must(s.Client.Create(s.ctx, m))
		s.until(func() error {
			m, err := s.ofRoom(s.room)
			if err == nil && m.Status.Phase != v1alpha1.MeetingActive {
				err = fmt.Errorf("phase is %s", m.Status.Phase)
			}
			return err
		})
		s.must(s.Client.Delete(s.ctx, c))
		s.until(func() error {
			if _, err := s.getConfig(c.Name); !apierrors.IsNotFound(err) {
				return errors.New("the config is still there")
			}
			return nil
		})
		s.until(s.quiet)
		s.until(func() error {
			all, err := s.meetings()
			for i := range all {
				if err == nil && len(all[i].Finalizers) > 0 {
					err = fmt.Errorf("%s has finalizers: %q", all[i].Name, all[i].Finalizers)
				}
			}
			return err
		})
	}, after: func(s *telling) {
		s.must(s.Client.DeleteAllOf(s.ctx, &v1alpha1.Meeting{}, client.InNamespace(s.Namespace)))
		s.gone()
	}},
}

// outcome is all that is left when a story has been told.
type outcome struct {
	Meetings []end
	// Secrets says of each Secret with a password whether its Meeting names it.
	Secrets []string
	Broken  []string
}

func (s *telling) outcome() outcome {
	s.Helper()
	var o outcome
	// The history may be a moment behind what was waited for.
	s.until(func() error {
		o = outcome{}
		all, err := s.meetings()
		if err != nil {
			return err
		}
		there := map[string]string{}
		for i := range all {
			there[string(all[i].UID)] = all[i].ResourceVersion
		}
		for _, l := range s.history.of(s.room) {
			m := l.last()
			if v, ok := there[string(m.UID)]; ok == l.gone || ok && v != m.ResourceVersion {
				return errors.New("the history is behind")
			}
			o.Meetings, o.Broken = append(o.Meetings, l.end()), append(o.Broken, l.broken()...)
		}
		return nil
	})
	var secrets corev1.SecretList
	s.must(s.Client.List(s.ctx, &secrets, client.InNamespace(s.Namespace)))
	for i := range secrets.Items {
		// No garbage collector runs here, so that what a story has made can be told by whom it belongs to.
		owner := &v1alpha1.Meeting{}
		if refs := secrets.Items[i].OwnerReferences; len(refs) == 1 {
			owner.UID = refs[0].UID
		}
		for _, l := range s.history.of(s.room) {
			if l.last().UID == owner.UID {
				named := l.last().Spec.PasswordSecretRef != nil && l.last().Spec.PasswordSecretRef.Name == secrets.Items[i].Name
				o.Secrets = append(o.Secrets, fmt.Sprintf("a password, named by its Meeting: %t", named))
			}
		}
	}
	slices.Sort(o.Secrets)
	return o
}

// tell tells a story with a fault at one of its writes, or none, and says what came of it.
func (w *world) tell(t *testing.T, s story, room, at string, fault testkit.Fault) (outcome, *recorder, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	now := &telling{world: w, T: t, ctx: ctx, room: room}
	r := w.record(at, fault)
	began := time.Now()
	s.tell(now)
	took := time.Since(began)
	o := now.outcome()
	w.kubernetes.Place(nil)
	w.media.Place(nil)
	if s.after != nil {
		s.after(now)
	}
	return o, r, took
}
