// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

func options(parallel int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: parallel,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, 10*time.Second),
	}
}

// mediaOf is the media server that a Meeting is on; nil where there is none.
func mediaOf(t *tenant.Tenant, m *v1alpha1.Meeting) *tenant.Media {
	if t == nil {
		return nil
	}
	return t.MediaAt(meeting.PlaceOf(m))
}

func engineRoom(t *tenant.Tenant, m *v1alpha1.Meeting) engine.RoomName {
	if t == nil {
		return ""
	}
	return meeting.EngineRoom(string(t.UID), string(m.UID))
}

// roomOptions have the engine itself hold the limit: it counts those who come through any replica, or past all of them.
func roomOptions(t *tenant.Tenant, m *v1alpha1.Meeting) engine.RoomOptions {
	return t.RoomOptions(t.Settings.ParticipantLimit(m.Spec.MaxParticipants))
}

// requeueAt turns a deadline into a wait. The wait is an alarm only: what is decided then comes from stored times.
func requeueAt(at, now time.Time) ctrl.Result {
	if at.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: max(at.Sub(now), time.Millisecond)}
}

// conflictPause is before the next try of a write that came too late for what was read. The change that it lost to wakes
// the reconciler too, as soon as it is in the cache.
const conflictPause = 500 * time.Millisecond

// afterWrites says what to do after an error of a reconciler's writes. An object that is gone needs nothing: the cache will
// say so too.
func afterWrites(result ctrl.Result, err error) (ctrl.Result, error) {
	switch kube.AnswerOf(err) {
	case kube.Conflict:
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	case kube.Gone:
		return ctrl.Result{}, nil
	}
	return result, err
}

// refusalText is the API server's text, as a part of a sentence.
func refusalText(err error) string { return strings.TrimRight(err.Error(), ". \n") }

// tellRefusal makes an Event of a write that the API server refuses. The API server's text says who refuses it.
func tellRefusal(to events.EventRecorder, about runtime.Object, err error) {
	if kube.AnswerOf(err) == kube.Refused {
		record(to, about, true, v1alpha1.ReasonRefused, "The API server refuses what Convene writes: "+refusalText(err))
	}
}

// updateStatus writes the status of an object of a kind, and counts it. A field that the cluster's CRDs lack is left out: without the
// rest of the status no meeting could be entered or ended. The condition CRDsOutdated tells of the field.
func updateStatus(ctx context.Context, c client.Client, o client.Object, kind string) error {
	err := c.Status().Update(ctx, o, client.FieldValidation(metav1.FieldValidationIgnore))
	if err == nil {
		statusWrites.WithLabelValues(kind).Inc()
	}
	return err
}

// updateConditions writes the status of an object of a kind, and makes Events of the conditions that have changed.
func updateConditions(ctx context.Context, c client.Client, to events.EventRecorder, o client.Object, kind string, before, now []metav1.Condition) error {
	err := updateStatus(ctx, c, o, kind)
	if err == nil {
		tell(to, o, before, now)
	}
	tellRefusal(to, o, err)
	return err
}

// longestMessage is the longest that an Event may have. Conditions may have longer ones.
const longestMessage = 1024

func cut(message string) string {
	if len(message) <= longestMessage {
		return message
	}
	return strings.ToValidUTF8(message[:longestMessage], "")
}

// TellFull returns what makes an Event of a telephone or a stream that was removed because a meeting is full.
func TellFull(to events.EventRecorder) func(*v1alpha1.Meeting) {
	return func(m *v1alpha1.Meeting) {
		record(to, m, true, v1alpha1.ReasonMeetingFull, "A telephone or a stream was removed: the meeting has no place for it; raise spec.maxParticipants")
	}
}

func record(to events.EventRecorder, about runtime.Object, warning bool, reason, message string) {
	kind := corev1.EventTypeNormal
	if warning {
		kind = corev1.EventTypeWarning
	}
	to.Eventf(about, nil, kind, reason, "Reconcile", "%s", cut(message))
}
