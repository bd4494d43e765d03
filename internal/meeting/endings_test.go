// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"
	"testing"

	"convene.dev/convene/api/v1alpha1"
)

// Each reason that the CRD allows has its row, and each row is whole.
func TestEveryEndReasonHasItsRow(t *testing.T) {
	known := EndReasons()
	for _, allowed := range statusField(t, "endReason").Enum {
		reason := v1alpha1.EndReason(string(allowed.Raw[1 : len(allowed.Raw)-1]))
		if !slices.Contains(known, reason) {
			t.Errorf("the table of endings has no row for %q, which the CRD allows", reason)
		}
		known = slices.DeleteFunc(known, func(r v1alpha1.EndReason) bool { return r == reason })
	}
	for _, reason := range known {
		t.Errorf("the CRD does not allow %q, or the table of endings has two rows for it", reason)
	}
	for _, e := range endings {
		if e.message == "" || e.due == nil || e.restarts == nil || e.needsFreshLook == nil {
			t.Errorf("the row for %q is not whole", e.reason)
		}
	}
}

// After a rollback a Meeting may have ended for a reason that this version does not know.
func TestAnUnknownEndReasonStartsNothingAgain(t *testing.T) {
	m := &v1alpha1.Meeting{Status: v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingEnded, EndReason: "Later"}}
	if Restartable(m) {
		t.Error("its links start the room again")
	}
}
