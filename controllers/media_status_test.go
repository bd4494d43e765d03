// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// mediaRig works out the status of a MediaServer.
type mediaRig struct {
	fakeObserver
	object     *v1alpha1.MediaServer
	server     *tenant.MediaServer
	tenants    []*tenant.Tenant
	sharedWith types.NamespacedName
}

func (r *mediaRig) SharedWith(engine.Server) (types.NamespacedName, bool) {
	return r.sharedWith, r.sharedWith.Name != ""
}

func (*mediaRig) Counts(engine.Server) (rooms, participants int) { return 3, 17 }

func (r *mediaRig) All() []*tenant.Tenant { return r.tenants }

func newMediaRig() *mediaRig {
	name := types.NamespacedName{Namespace: "media", Name: "livekit"}
	r := &mediaRig{
		fakeObserver: fakeObserver{since: monday},
		object:       &v1alpha1.MediaServer{ObjectMeta: metav1.ObjectMeta{Namespace: "media", Name: "livekit", Generation: 2}},
		server: &tenant.MediaServer{Generation: 2, Media: tenant.Media{
			Name: name, Server: engine.Server{URL: "http://livekit:7880"}, Engine: faultyengine.New(),
		}},
	}
	for _, m := range []*tenant.Media{{Name: name}, {Name: name, Retired: true}, {Name: types.NamespacedName{Name: "other"}}} {
		r.tenants = append(r.tenants, &tenant.Tenant{Media: []*tenant.Media{m}})
	}
	return r
}

func (r *mediaRig) reconciler() *MediaReconciler {
	return &MediaReconciler{Tenants: r, Observer: r, Now: func() time.Time { return monday }}
}

func TestConditionsOfAMediaServer(t *testing.T) {
	const (
		key     = "KeyResolved=True Resolved: LiveKit's key and secret were read"
		reached = "Reachable=True Reachable: LiveKit answers at http://livekit:7880"
		ready   = "Ready=True Serving: LiveKit answers and accepts the key"
		away    = `LiveKit does not answer at MediaServer "media/livekit"; check its spec.apiURL and that LiveKit runs`
		twice   = ": both list the same rooms, and the load counts twice; keep one of the two, and name it in spec.mediaRefs of each ConferenceConfig"
		refused = `LiveKit refuses the key of MediaServer "media/livekit"; put its apiKey and apiSecret into the Secret`
	)
	for _, tc := range []struct {
		reason string
		change func(*mediaRig)
		want   []string
	}{
		{"all is well", func(*mediaRig) {}, []string{key, reached, ready}},
		{"it is draining", func(r *mediaRig) { r.server.Draining = true },
			[]string{key, reached, "Ready=True Serving: LiveKit answers; no new meetings are placed here, because spec.draining is set"}},
		{"it has not been asked yet", func(r *mediaRig) { r.since = time.Time{} }, []string{key,
			`Reachable=False NotChecked: MediaServer "media/livekit" has not been asked yet`, `Ready=False NotChecked: MediaServer "media/livekit" has not been asked yet`}},
		{"it does not answer, and what did is told nobody", func(r *mediaRig) { r.err = errors.New("connection refused by 10.1.2.3: SSH-2.0") },
			[]string{key, "Reachable=False Unreachable: " + away, "Ready=False Unreachable: " + away}},
		{"it refuses the key", func(r *mediaRig) { r.err = fault.Denied("no").WithReason(v1alpha1.ReasonUnauthorized) },
			[]string{key, "Reachable=False Unauthorized: " + refused, "Ready=False Unauthorized: " + refused, "Stalled=True Unauthorized: " + refused}},
		{"its Secret is missing", func(r *mediaRig) {
			r.server.Engine = nil
			r.server.Problems = []tenant.Problem{{Condition: v1alpha1.ConditionKeyResolved, Reason: v1alpha1.ReasonSecretNotFound, Message: "no Secret", Fatal: true}}
		}, []string{"KeyResolved=False SecretNotFound: no Secret", "Ready=False SecretNotFound: no Secret"}},
		{"it is the same LiveKit as another one", func(r *mediaRig) { r.sharedWith = types.NamespacedName{Namespace: "media", Name: "twin"} },
			[]string{key, reached, `SharedLiveKit=True SameRooms: The same LiveKit as MediaServer "twin"` + twice, ready}},
		{"it is the same LiveKit as one of another namespace", func(r *mediaRig) { r.sharedWith = types.NamespacedName{Namespace: "secret", Name: "twin"} },
			[]string{key, reached, "SharedLiveKit=True SameRooms: The same LiveKit as a MediaServer of another namespace" + twice, ready}},
	} {
		r := newMediaRig()
		tc.change(r)
		status := r.reconciler().status(r.object, r.server)
		got := strings.Split(describe(v1alpha1.ConferenceConfigStatus{Conditions: status.Conditions}), "\n")
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
		if status.Rooms != 3 || status.Participants != 17 || status.ConferenceConfigs != 1 || status.ObservedGeneration != 2 {
			t.Errorf("%s: %+v", tc.reason, status)
		}
	}
}

// A manager that has just begun to lead does not know yet what the status of a MediaServer says already.
func TestNothingOfAMediaServerIsTakenBackBeforeTheFirstLook(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*mediaRig)
		want   bool
	}{
		{"it has not looked", func(r *mediaRig) { r.since = time.Time{} }, true},
		{"it has looked", func(*mediaRig) {}, false},
		{"it has looked, and nothing answered", func(r *mediaRig) { r.since, r.err = time.Time{}, errors.New("no") }, false},
		{"the spec has changed", func(r *mediaRig) { r.since = time.Time{}; r.object.Generation++ }, false},
		{"the status says nothing", func(r *mediaRig) { r.since = time.Time{}; r.object.Status.Conditions = nil }, false},
		{"its Secret is missing", func(r *mediaRig) { r.since, r.server.Engine = time.Time{}, nil }, false},
	} {
		r := newMediaRig()
		r.object.Status = r.reconciler().status(r.object, r.server)
		tc.change(r)
		if got := r.reconciler().knowsLess(r.object, r.server); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
	}
}
