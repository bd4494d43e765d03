// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// A Lease is held while it is renewed, whatever the clock of its holder says.
func TestALeaseIsHeldWhileItIsRenewed(t *testing.T) {
	now := time.Now()
	for name, off := range map[string]time.Duration{"right": 0, "an hour slow": -time.Hour, "a year fast": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			var w leaseWatch
			held := func(after, renewed time.Duration) bool {
				at := metav1.NewMicroTime(now.Add(off + renewed))
				return w.held(coordinationv1.LeaseSpec{
					HolderIdentity: ptr.To("manager"), LeaseDurationSeconds: ptr.To(int32(15)), RenewTime: &at,
				}, now.Add(after))
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
	var w leaseWatch
	if w.held(coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To(int32(15)), RenewTime: &metav1.MicroTime{Time: now}}, now) {
		t.Error("a Lease that was given up is held")
	}
}
