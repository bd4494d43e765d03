// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

// firstStatusesAtOnce is how many new Meetings may get their first status at one time. In a burst of creates the API server is
// busy with what people wait for; a Meeting can be listed, joined and ended before its status says Active. Namespaces take turns.
const firstStatusesAtOnce = 2

// firstStatuses keeps the first status writes from crowding out creates.
type firstStatuses struct{ *slots }

func newFirstStatuses(wake func(types.NamespacedName)) firstStatuses {
	return firstStatuses{newSlots(firstStatusesAtOnce, firstStatusesAtOnce, firstStatusesAtOnce, wake)}
}

// enter says whether the status may be written now, and leave has to be called after it. Statuses that are not the first of
// a Meeting never wait.
func (o firstStatuses) enter(m *v1alpha1.Meeting, to v1alpha1.MeetingStatus) (may bool, leave func()) {
	opened := m.Annotations[v1alpha1.AnnotationRoomOpened] != ""
	if opened || m.Status.Phase != "" || to.Phase != v1alpha1.MeetingActive {
		o.drop(client.ObjectKeyFromObject(m)) // It may have ended while it waited.
		return true, func() {}
	}
	in := lane{namespace: m.Namespace}
	return o.slots.enter(client.ObjectKeyFromObject(m), in), func() { o.leave(in) }
}
