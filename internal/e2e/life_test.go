// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

func (w *world) meeting(name string, change ...func(*v1alpha1.MeetingSpec)) *v1alpha1.Meeting {
	m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, Spec: v1alpha1.MeetingSpec{Room: name}}
	m.Spec.ConfigRef.Name = "default"
	for _, f := range change {
		f(&m.Spec)
	}
	return m
}

func (w *world) get(name string) (*v1alpha1.Meeting, error) {
	var m v1alpha1.Meeting
	return &m, w.Client.Get(context.Background(), w.key(name), &m)
}

func (w *world) hasPhase(name string, phase v1alpha1.MeetingPhase) func() error {
	return func() error {
		m, err := w.get(name)
		if err != nil {
			return err
		}
		return phaseIs([]v1alpha1.Meeting{*m}, phase)
	}
}

func (w *world) isGone(name string) func() error {
	return func() error {
		if _, err := w.get(name); !apierrors.IsNotFound(err) {
			return errors.New("still there")
		}
		return nil
	}
}

func TestDurationEndsAMeetingWithoutAnEngine(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) { a.Spec.MediaRefs = nil })
	w.Create(t, w.meeting("short", func(s *v1alpha1.MeetingSpec) { s.Duration = "2s" }))
	w.eventually(t, w.hasPhase("short", v1alpha1.MeetingPending))
	w.eventually(t, w.hasPhase("short", v1alpha1.MeetingEnded))
	m, err := w.get("short")
	if err != nil {
		t.Fatal(err)
	}
	if m.Status.EndReason != v1alpha1.EndExpired || m.Status.EndTime.Before(m.Status.ExpiryTime) {
		t.Fatalf("ended like this: %+v", m.Status)
	}
	if ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Reason != v1alpha1.ReasonEnded {
		t.Fatalf("an ended Meeting is ready like this: %+v", m.Status.Conditions)
	}
}

// What people and scripts wait for can be waited for at any time in a Meeting's life, because its conditions are always there.
func TestConditionsCanBeWaitedFor(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) { a.Spec.MediaRefs = nil })
	w.Create(t, w.meeting("m"))
	wait := func(conditions ...string) {
		t.Helper()
		for _, c := range conditions {
			w.Kubectl(t, "wait", "--for=condition="+c, "meeting/m", "--timeout=30s", "-n", w.Namespace)
		}
	}
	wait("Ready=false", "Occupied=false", "Ended=false")
	w.Kubectl(t, "patch", "meeting", "m", "-n", w.Namespace, "--type=merge", "-p", `{"spec":{"end":{}}}`)
	wait("Ended", "Ready=false", "Occupied=false")
}

func TestDeleteGoesAndTTLCleansUp(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{TTLSecondsAfterEnded: ptr.To(int32(1))}
	})
	w.Create(t, w.meeting("deleted"), w.meeting("ended"))
	w.eventually(t, w.hasPhase("deleted", v1alpha1.MeetingActive))
	w.Kubectl(t, "wait", "--for=condition=Ready", "meeting/ended", "--timeout=30s", "-n", w.Namespace)
	w.Kubectl(t, "delete", "meeting", "deleted", "-n", w.Namespace, "--wait", "--timeout=30s")
	if err := w.isGone("deleted")(); err != nil {
		t.Fatal(err)
	}
	w.Kubectl(t, "patch", "meeting", "ended", "-n", w.Namespace, "--type=merge", "-p", `{"spec":{"end":{}}}`)
	w.eventually(t, w.isGone("ended"))
}

func TestRoomTakenOpensWhenFree(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	w.Create(t, w.meeting("first", func(s *v1alpha1.MeetingSpec) { s.Room = "shared" }))
	w.eventually(t, w.hasPhase("first", v1alpha1.MeetingActive))
	// Of two made in one second the UID decides: the second is made in another one.
	w.eventually(t, func() error {
		m, err := w.get("first")
		if err == nil && time.Since(m.CreationTimestamp.Time) < time.Second {
			err = errors.New("too young")
		}
		return err
	})
	for _, replica := range w.each() {
		w.eventually(t, func() error { return replica.counts(1, 0) })
	}
	w.Create(t, w.meeting("second", func(s *v1alpha1.MeetingSpec) { s.Room = "shared" }))
	w.eventually(t, func() error {
		m, err := w.get("second")
		if err != nil {
			return err
		}
		ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonRoomTaken {
			return fmt.Errorf("conditions are %+v", m.Status.Conditions)
		}
		return nil
	})
	if err := w.a.counts(1, 0); err != nil {
		t.Fatalf("both are counted: %s", err)
	}
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/shared", nil)
	w.eventually(t, w.hasPhase("first", v1alpha1.MeetingEnded))
	w.eventually(t, w.hasPhase("second", v1alpha1.MeetingActive))
}

func TestConfigDeletedEndsItsMeetings(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	w.Create(t, w.meeting("standing"))
	w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingActive))
	w.Kubectl(t, "delete", "conferenceconfig", "default", "-n", w.Namespace, "--wait", "--timeout=30s")
	w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingEnded))
	if m, _ := w.get("standing"); m.Status.EndReason != v1alpha1.EndDeleted {
		t.Fatalf("ended like this: %+v", m.Status)
	}
	w.Create(t, w.meeting("orphan"))
	w.eventually(t, w.hasPhase("orphan", v1alpha1.MeetingPending))
}

func TestSwitchesAndKeysChangeWithoutRestart(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	w.a.want(http.StatusOK, "GET", "/api/v1/stats", nil)
	w.Kubectl(t, "patch", "confcfg", "default", "-n", w.Namespace, "--type=merge", "-p", `{"spec":{"api":{"allowed":{"stats":false}}}}`)
	w.eventually(t, func() error {
		if r := w.a.call("GET", "/api/v1/stats", nil); r.status != http.StatusForbidden || !strings.Contains(r.text("error"), "disabled") {
			return fmt.Errorf("stats answers %d %s", r.status, r.raw)
		}
		return nil
	})
	w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)

	w.Kubectl(t, "patch", "secret", "env-b", "-n", w.Namespace, "--type=merge", "-p", `{"stringData":{"API_DISABLED":"[\"token\"]"}}`)
	w.eventually(t, func() error {
		if r := w.b.call("POST", "/api/v1/token", map[string]any{"username": "u", "password": "p"}); r.status != http.StatusForbidden {
			return fmt.Errorf("token answers %d %s", r.status, r.raw)
		}
		return nil
	})

	w.Kubectl(t, "delete", "secret", "api-a", "-n", w.Namespace)
	w.eventually(t, func() error {
		if r := w.a.call("GET", "/api/v1/meetings", nil); r.status != http.StatusServiceUnavailable {
			return fmt.Errorf("meetings answers %d %s", r.status, r.raw)
		}
		return nil
	})
	w.eventually(t, func() error {
		var c v1alpha1.ConferenceConfig
		if err := w.Client.Get(context.Background(), client.ObjectKey{Namespace: w.Namespace, Name: "default"}, &c); err != nil {
			return err
		}
		k := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionAPIKeysResolved)
		if k == nil || k.Reason != v1alpha1.ReasonSecretNotFound || k.Status != metav1.ConditionFalse {
			return fmt.Errorf("conditions are %+v", c.Status.Conditions)
		}
		return nil
	})
	w.Secret(t, v1alpha1.UsedByConferenceConfig, "api-a", map[string]string{"key": w.a.key})
	w.eventually(t, func() error {
		if r := w.a.call("GET", "/api/v1/meetings", nil); r.status != http.StatusOK {
			return fmt.Errorf("meetings answers %d %s", r.status, r.raw)
		}
		return nil
	})
}
