// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
)

// deleteEarlier deletes the Meetings of a room that had ended before one that has ended now. What the room's links do depends
// on the last Meeting alone. An older one that stayed longer would let them open a room that was ended on request.
func (r *MeetingReconciler) deleteEarlier(ctx context.Context, m *v1alpha1.Meeting) error {
	sameRoom, err := directory.OfRoom(ctx, r.Client, m.Namespace, m.Spec.ConfigRef.Name, m.Spec.Room)
	if err != nil {
		return err
	}
	for _, other := range sameRoom {
		if other.UID == m.UID || !meeting.IsOver(other) || !meeting.Older(other, m) {
			continue
		}
		if err := kube.DeleteAsRead(ctx, r.Client, other.DeepCopy()); err != nil {
			return err
		}
	}
	return nil
}
