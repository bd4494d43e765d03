// SPDX-License-Identifier: Apache-2.0

package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit/meetingclaims"
)

// TestTheDoubleOfMeetings: what the double of these tests answers, package conference answers as well.
func TestTheDoubleOfMeetings(t *testing.T) {
	s := newSite(t)
	create := func(room, password string) {
		v := s.meetings.open(room, func(v *meeting.View) { v.Length, v.HasPassword = meeting.Length(time.Hour), password != "" })
		s.meetings.passwords[v.UID] = password
	}
	if diff := cmp.Diff(meetingclaims.WantOfPages, meetingclaims.OfPages(t, s.tenant, s.meetings, create)); diff != "" {
		t.Errorf("answers (-want +got)\n%s", diff)
	}
}
