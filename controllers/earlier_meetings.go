// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
)

// deleteEarlier deletes the ended Meetings of a room that a Meeting has followed. The last Meeting alone decides what the room's links do. If an
// older Meeting stayed, the links would open a room that was ended on request, or whose last Meeting was deleted. LookAgain is the time until a
// live Meeting is settled, and zero if it has followed none.
func (r *MeetingReconciler) deleteEarlier(ctx context.Context, m *v1alpha1.Meeting) (lookAgain time.Duration, err error) {
	if meeting.Stands(m) && !meeting.IsOver(m) {
		return 0, nil // It may give the room back to the last one.
	}
	for _, other := range meeting.Earlier(m, r.Meetings.SameRoom(m)) {
		if lookAgain = meeting.SettledAt(m, r.Now()).Sub(r.Now()); lookAgain > 0 && !meeting.IsOver(m) {
			return lookAgain, nil
		}
		if err := kube.DeleteAsRead(ctx, r.Client, other.DeepCopy()); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
