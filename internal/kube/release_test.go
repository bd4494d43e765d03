// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A Lease is held while it is renewed, whatever the clock of its holder says.
func TestALeaseIsHeldWhileItIsRenewed(t *testing.T) {
	now := time.Now()
	for name, off := range map[string]time.Duration{"right": 0, "an hour slow": -time.Hour, "a year fast": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := leaseWatch{}
			held := func(after, renewed time.Duration) bool {
				return w.held(lease("a", "manager", metav1.NewMicroTime(now.Add(off+renewed))), now.Add(after))
			}
			for second := range 40 {
				if at := time.Duration(second) * time.Second; !held(at, at) {
					t.Fatalf("a Lease that was renewed at %s is not held", at)
				}
			}
			if !held(50*time.Second, 39*time.Second) {
				t.Error("a Lease is not held 11 s after its last renewal")
			}
			if held(55*time.Second, 39*time.Second) {
				t.Error("a Lease is held 16 s after its last renewal")
			}
		})
	}
	w, renewed := leaseWatch{}, metav1.NewMicroTime(now)
	if w.held(lease("a", "", renewed), now) {
		t.Error("a Lease that was given up is held")
	}
	if !w.held(lease("a", "manager", renewed), now) || !w.held(lease("b", "manager", renewed), now.Add(16*time.Second)) {
		t.Error("a Lease that was made again is taken for the Lease before")
	}
}

func lease(uid types.UID, holder string, renewed metav1.MicroTime) coordinationv1.Lease {
	return coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{UID: uid}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: ptr.To(int32(15)), RenewTime: &renewed,
	}}
}

// A Deployment that is scaled to none does not count its pods any more while they drain.
func TestManagersHaveStoppedWhenTheirPodsHaveGone(t *testing.T) {
	cluster := testkit.ControlPlane(t)
	pods := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Labels: map[string]string{"app": "managers"}},
		Spec:       corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "manager", Image: "manager"}}},
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "managers"}}
	deployment.Spec = appsv1.DeploymentSpec{Replicas: ptr.To(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: pods.Labels}, Template: pods}
	drains := &corev1.Pod{ObjectMeta: *pods.ObjectMeta.DeepCopy(), Spec: pods.Spec}
	drains.Name = "drains"
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "other"}, Spec: pods.Spec}
	for _, o := range []client.Object{deployment, drains, other} {
		cluster.Create(t, o)
	}
	o := ReleaseOptions{LeaseNamespace: cluster.Namespace, Deployment: "managers", Log: logr.Discard()}
	check := func(when string, want bool) {
		t.Helper()
		if stopped, err := o.stopped(t.Context(), cluster.Client); err != nil || stopped != want {
			t.Errorf("%s: they have stopped: %t, %v; want %t", when, stopped, err, want)
		}
	}
	check("when it is asked for none", false)
	must(t, cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment))
	if *deployment.Spec.Replicas != 0 {
		t.Errorf("%d replicas are asked for", *deployment.Spec.Replicas)
	}
	check("before the Deployment has heard of it", false)
	deployment.Status.ObservedGeneration = deployment.Generation
	must(t, cluster.Client.Status().Update(t.Context(), deployment))
	check("before a pod is told to stop", false)
	must(t, cluster.Client.Delete(t.Context(), drains, client.GracePeriodSeconds(60)))
	check("while a pod drains", false)
	must(t, cluster.Client.Delete(t.Context(), drains, client.GracePeriodSeconds(0)))
	check("when all pods have gone", true)
}

// Pods that have ended, and those of lost nodes, can stay for long.
func TestPodsThatRun(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]bool{
		corev1.PodPending: true, corev1.PodRunning: true, corev1.PodUnknown: true, corev1.PodFailed: false, corev1.PodSucceeded: false,
	} {
		for until, runsThen := range map[time.Duration]bool{0: true, time.Minute: true, -time.Second: false} {
			pod := corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
			if until != 0 {
				pod.DeletionTimestamp = ptr.To(metav1.NewTime(time.Now().Add(until)))
			}
			if got := runs(pod); got != (want && runsThen) {
				t.Errorf("a pod that is %s, with %s left for stopping, runs: %t", phase, until, got)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
