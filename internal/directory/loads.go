// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// loads count, for each media server, the live meetings that are placed on it and the participants in them. The Directory's lock
// guards them.
type loads map[types.NamespacedName]int

func (l loads) add(m *v1alpha1.Meeting, sign int) {
	at := meeting.PlaceOf(m)
	if l[at] += sign * (1 + int(m.Status.ParticipantCount)); l[at] == 0 {
		delete(l, at)
	}
}

// LoadOf is how many live meetings are placed on a media server, and how many participants are in them, of all tenants, as one
// number. A meeting counts before its first participant comes, so that of many new ones not all go to one media server.
func (d *Directory) LoadOf(mediaServer types.NamespacedName) int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.loads[mediaServer]
}
