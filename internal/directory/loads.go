// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// loads count the live meetings on each media server and the participants in them. The Directory's lock guards them.
type loads map[loadKey]int

// loadKey is a media server where meetings are placed, and one where new meetings of a namespace are to be placed: these annotations count for
// that namespace alone, since whoever may write Meetings there may name any media server.
type loadKey struct {
	at types.NamespacedName
	// asking is the namespace; empty for those that are placed.
	asking string
}

func (l loads) add(m *v1alpha1.Meeting, sign int) {
	key := loadKey{at: meeting.PlaceOf(m)}
	if m.Status.MediaServer == nil {
		key.asking = m.Namespace
	}
	if l[key] += sign * (1 + int(m.Status.ParticipantCount)); l[key] == 0 {
		delete(l, key)
	}
}

// LoadOf is how many live meetings are placed on a media server, and how many participants are in them, of all tenants, as one number.
func (d *Directory) LoadOf(mediaServer types.NamespacedName) int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.loads[loadKey{at: mediaServer}]
}

// LoadFor returns LoadOf as new meetings of a namespace have to see it: its meetings count before they are placed, so that of many new ones not
// all go to one media server.
func (d *Directory) LoadFor(namespace string) func(mediaServer types.NamespacedName) int {
	return func(mediaServer types.NamespacedName) int {
		d.mu.RLock()
		defer d.mu.RUnlock()
		return d.loads[loadKey{at: mediaServer}] + d.loads[loadKey{mediaServer, namespace}]
	}
}
