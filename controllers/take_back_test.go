// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// reading is an API server to which something happens while an object is read.
type reading struct {
	client.Reader
	meanwhile func() error
}

func (r reading) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, o, opts...)
	if failed := r.meanwhile(); failed != nil {
		return failed
	}
	return err
}

// TestAMeetingWithoutItsPasswordIsTakenBack: the controllers delete a Meeting that the API has just made, and whose Secret has not come in time.
// They delete no Meeting that somebody has entered, ended or changed, and none from a backup.
func TestAMeetingWithoutItsPasswordIsTakenBack(t *testing.T) {
	c := testkit.ControlPlane(t)
	const name = "m"
	key := client.ObjectKey{Namespace: c.Namespace, Name: name}
	patch := func(text string) error {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}}
		return c.Client.Patch(t.Context(), m, client.RawPatch("application/merge-patch+json", []byte(text)))
	}
	for what, tc := range map[string]struct {
		// requested is how long the Meeting was asked for before its object was made. The controllers look at the Meeting when the object is
		// later old.
		requested, later time.Duration
		change           func(*v1alpha1.Meeting)
		secret           bool
		meanwhile        func() error
		gone, again      bool
	}{
		"in time":                             {later: meeting.PasswordWithin - 2*time.Second, again: true},
		"too late":                            {later: meeting.PasswordWithin, gone: true},
		"with its Secret":                     {later: meeting.PasswordWithin, secret: true},
		"long after":                          {later: time.Hour},
		"restored from a backup":              {requested: time.Hour, later: meeting.PasswordWithin},
		"without a password":                  {later: meeting.PasswordWithin, change: func(m *v1alpha1.Meeting) { m.Spec.PasswordSecretRef = nil }},
		"whose password the API did not make": {later: meeting.PasswordWithin, change: func(m *v1alpha1.Meeting) { m.Annotations = nil }},
		"that was entered": {later: meeting.PasswordWithin, change: func(m *v1alpha1.Meeting) {
			m.Annotations[v1alpha1.AnnotationRoomOpened] = "2026-01-31T17:00:00Z"
		}},
		"that is being ended":             {later: meeting.PasswordWithin, change: func(m *v1alpha1.Meeting) { m.Spec.End = &v1alpha1.MeetingEnd{} }},
		"where the Secret cannot be read": {later: meeting.PasswordWithin, meanwhile: func() error { return errors.New("no answer") }, again: true},
		"which another command finishes":  {later: meeting.PasswordWithin, meanwhile: func() error { return patch(`{"metadata":{"annotations":{"convene.dev/password-requested":null}}}`) }},
		"which is changed meanwhile":      {later: meeting.PasswordWithin, meanwhile: func() error { return patch(`{"spec":{"locked":true}}`) }},
	} {
		m := &v1alpha1.Meeting{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name, Annotations: map[string]string{
				v1alpha1.AnnotationPasswordRequested: time.Now().Add(-tc.requested).UTC().Format(time.RFC3339),
			}},
			Spec: v1alpha1.MeetingSpec{Room: "m", PasswordSecretRef: &v1alpha1.SecretKeyReference{Name: "none", Key: "password"}},
		}
		if tc.secret {
			c.Secret(t, v1alpha1.UsedByMeeting, "there", map[string]string{"password": "sesame"})
			m.Spec.PasswordSecretRef.Name = "there"
		}
		if tc.change != nil {
			tc.change(m)
		}
		c.Create(t, m)
		r := &MeetingReconciler{Client: c.Client, API: c.Client, Now: func() time.Time { return m.CreationTimestamp.Add(tc.later) }}
		if tc.meanwhile != nil {
			r.API = reading{c.Client, tc.meanwhile}
		}
		gone, again, err := r.takeBack(t.Context(), m)
		if outdated := kube.AnswerOf(err) == kube.Conflict; err != nil && !outdated || !outdated && gone != tc.gone || again > 0 != tc.again {
			t.Errorf("%s: gone %t, again after %s, %v", what, gone, again, err)
		}
		if there := c.Client.Get(t.Context(), key, m) == nil; there == tc.gone {
			t.Errorf("%s: it is there: %t", what, there)
		}
		_ = c.Client.Delete(t.Context(), m)
	}
}
