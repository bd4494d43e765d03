// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit/meetingclaims"
)

// TestTheDoubleOfMeetings: what the double of these tests answers, package conference answers as well.
func TestTheDoubleOfMeetings(t *testing.T) {
	one := testTenant(v1alpha1.VariantA)
	one.BaseURL = "https://meet.example.com"
	w := newWorld(t, one)
	if diff := cmp.Diff(meetingclaims.WantOfAPI, meetingclaims.OfAPI(t, one, w.meetings)); diff != "" {
		t.Errorf("answers (-want +got)\n%s", diff)
	}
}
