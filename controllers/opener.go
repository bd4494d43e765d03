// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"math/rand/v2"
	"time"

	"convene.dev/convene/api/v1alpha1"
)

// openAtOnce is how many new Meetings may get their first status at one time. In a burst of creates the API server is
// busy with what people wait for; a Meeting can be listed, joined and ended before its status says Active.
const openAtOnce = 2

// opener keeps the first status writes from crowding out creates.
type opener chan struct{}

func newOpener() opener { return make(opener, openAtOnce) }

// enter says how long to wait before the status of a new Meeting is written; zero is now, and leave has to be called
// after it. Other writes do not wait.
func (o opener) enter(m *v1alpha1.Meeting, to v1alpha1.MeetingStatus) (wait time.Duration, leave func()) {
	opened := m.Annotations[v1alpha1.AnnotationRoomOpened] != ""
	if opened || m.Status.Phase != "" || to.Phase != v1alpha1.MeetingActive {
		return 0, func() {}
	}
	select {
	case o <- struct{}{}:
		return 0, func() { <-o }
	default:
		return 20*time.Millisecond + rand.N(60*time.Millisecond), nil //nolint:gosec // spreads work, keeps no secret
	}
}
