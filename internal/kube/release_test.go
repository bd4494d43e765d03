// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// A Lease is held while it is renewed, whatever the clock of its holder says.
func TestALeaseIsHeldWhileItIsRenewed(t *testing.T) {
	now := time.Now()
	for name, off := range map[string]time.Duration{"right": 0, "an hour slow": -time.Hour, "a year fast": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := leaseWatch{}
			held := func(after, renewed time.Duration) bool {
				at := metav1.NewMicroTime(now.Add(off + renewed))
				return w.held([]coordinationv1.Lease{lease("a", "manager", at)}, now.Add(after)) == 1
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
	w := leaseWatch{}
	if w.held([]coordinationv1.Lease{lease("a", "", metav1.NewMicroTime(now))}, now) > 0 {
		t.Error("a Lease that was given up is held")
	}
}

// Between two leaders no manager holds the leader's Lease, and those that run have Leases of their own.
func TestEveryLeaseIsWatchedByItself(t *testing.T) {
	now, w := time.Now(), leaseWatch{}
	at := func(after time.Duration) metav1.MicroTime { return metav1.NewMicroTime(now.Add(after)) }
	leases := []coordinationv1.Lease{lease("leader", "", at(0)), lease("killed", "manager-1", at(0)), lease("runs", "manager-2", at(0))}
	if held := w.held(leases, now); held != 2 {
		t.Errorf("%d are held at first, want 2", held)
	}
	leases[2] = lease("runs", "manager-2", at(10*time.Second))
	if held := w.held(leases, now.Add(16*time.Second)); held != 1 {
		t.Errorf("%d are held when one has run out, want 1", held)
	}
}

func lease(uid types.UID, holder string, renewed metav1.MicroTime) coordinationv1.Lease {
	return coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{UID: uid}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: ptr.To(int32(15)), RenewTime: &renewed,
	}}
}
