// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// TestRefusedWritesHoldUpNoStatus: a policy of the cluster denies what the controllers write, with whichever code. Each status says what
// can be said, an Event has the policy's text, and all is made up for when the policy admits.
func TestRefusedWritesHoldUpNoStatus(t *testing.T) {
	w := newWorld(t)
	w.secrets()
	policy := w.AdmissionWebhook(t, testkit.Writes(admissionv1.Create, "secrets"), testkit.Writes(admissionv1.Update, "meetings"), testkit.Writes(admissionv1.Delete, "meetings"))
	policy.Deny(409)
	c := w.configAlone()
	w.configSays(v1alpha1.ConditionSigningKeysResolved, v1alpha1.ReasonRefused)
	w.configSays(v1alpha1.ConditionReady, v1alpha1.ReasonRefused)
	w.toldOfPolicy("default")

	lineage := func(of string) func(*v1alpha1.Meeting) bool {
		return func(m *v1alpha1.Meeting) bool { return m.Annotations[v1alpha1.AnnotationLineage] == of }
	}
	for _, code := range []int32{404, 409, 500} {
		policy.Deny(code)
		name := fmt.Sprint("m", code)
		w.meeting(name, func(m *v1alpha1.Meeting) { m.Labels = nil })
		w.is(name, v1alpha1.MeetingActive, lineage(""))
		w.toldOfPolicy(name)
		w.eventually(func() error {
			m := w.is(name, v1alpha1.MeetingActive)
			if err := kube.DeleteAsRead(t.Context(), w.Client, m); kube.AnswerOf(err) != kube.Refused {
				return fmt.Errorf("a deletion that is denied with %d: %w", code, err)
			}
			m.Finalizers = []string{v1alpha1.Finalizer}
			if gone, err := kube.RemoveFinalizer(t.Context(), w.Client, m); gone || kube.AnswerOf(err) != kube.Refused || len(m.Finalizers) != 1 {
				return fmt.Errorf("a finalizer whose removal is denied with %d: %q, gone %t, %w", code, m.Finalizers, gone, err)
			}
			return nil
		})
	}

	policy.Admit(0)
	w.patch(c, `{"metadata":{"annotations":{"touched":"now"}}}`)
	w.configSays(v1alpha1.ConditionReady, v1alpha1.ReasonServing)
	w.touch()
	m := w.is("m404", v1alpha1.MeetingActive)
	w.is("m404", v1alpha1.MeetingActive, lineage(string(m.UID)))
}

// TestRefusedStatusesAreTold: where the API server refuses a status, an Event about the object has its text.
func TestRefusedStatusesAreTold(t *testing.T) {
	w := newWorld(t)
	policy := w.AdmissionWebhook(t, testkit.Writes(admissionv1.Update, "meetings/status", "conferenceconfigs/status", "mediaservers/status"))
	policy.Deny(0)
	w.config()
	w.meeting("m")
	for _, name := range []string{"m", "default", "livekit"} {
		w.toldOfPolicy(name)
	}
	policy.Admit(0)
	w.is("m", v1alpha1.MeetingActive)
}

// TestAMeetingThatMayNotBeTakenBackIsCarriedOut: where the API server refuses to delete a Meeting that never got its password, the Meeting is placed
// and timed like any other, and an Event tells of the refusal.
func TestAMeetingThatMayNotBeTakenBackIsCarriedOut(t *testing.T) {
	w := newWorld(t)
	policy := w.AdmissionWebhook(t, testkit.Writes(admissionv1.Delete, "meetings"))
	w.config()
	policy.Deny(0)
	w.pass(meeting.PasswordWithin)
	w.meeting("m", func(m *v1alpha1.Meeting) {
		m.Annotations = map[string]string{v1alpha1.AnnotationPasswordRequested: time.Now().UTC().Format(time.RFC3339)}
		m.Spec.PasswordSecretRef = &v1alpha1.SecretKeyReference{Name: "none", Key: "password"}
	})
	w.is("m", v1alpha1.MeetingActive)
	w.toldOfPolicy("m")
	policy.Admit(0)
	w.touch()
	w.gone("m")
}

// toldOfPolicy waits for an Event about an object that has the policy's text.
func (w *world) toldOfPolicy(name string) {
	w.t.Helper()
	w.eventually(func() error {
		told := w.Kubectl(w.t, "get", "events.v1.events.k8s.io", "--field-selector=type=Warning,reason=Refused,regarding.name="+name, "-o", "jsonpath={.items[*].note}")
		if !strings.Contains(told, "the policy of the house") {
			return errors.New("nothing was told: " + told)
		}
		return nil
	})
}
