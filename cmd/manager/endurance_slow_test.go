// SPDX-License-Identifier: Apache-2.0

//go:build slow

package main

import (
	"os"
	"strconv"
	"testing"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

// A Lease that is lost again and again, for example where the API server is overloaded, leaves nothing behind.
func TestLostLeasesLeaveNothingBehind(t *testing.T) {
	r := newReplica(t)
	r.leader = nil // Each lead ends as with a lost Lease, and the next begins at once.
	keepsNothing(t, 500, 512, func(times int) {
		for range times {
			r.leads()()
		}
	})
}

// lives is how many meetings TestMeetingsLeaveNothingBehind makes and ends: make test-endurance sets it.
func lives(t *testing.T) int {
	t.Helper()
	set := os.Getenv("CONVENE_LIVES")
	if set == "" {
		return 400
	}
	n, err := strconv.Atoi(set)
	if err != nil || n < 400 {
		t.Fatalf("CONVENE_LIVES is %q; set it to a number of 400 or more", set)
	}
	return n
}

// Meetings that come and go leave nothing behind in the replica that leads.
func TestMeetingsLeaveNothingBehind(t *testing.T) {
	r := newReplica(t)
	r.leader = nil
	config := r.tenantOf("default")
	config.Spec.Meetings = &v1alpha1.MeetingsSpec{TTLSecondsAfterEnded: ptr.To(int32(0))}
	r.configs.set(config, 1)
	r.served(client.ObjectKeyFromObject(config), 1)
	of, _ := r.tenants.Get(client.ObjectKeyFromObject(config))
	defer r.leads()()
	made := 0
	live := func(times int) {
		r.live(of, made, times)
		made += times
	}
	// These fill what is kept of the last that have gone, and the buffers of the informers.
	r.comeAndGo(20_000)
	live(200)
	keepsNothing(t, lives(t)/2, 256, live)
	keepsNothing(t, 50_000, 16, r.comeAndGo)
}
