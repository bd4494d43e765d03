// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// rememberDeleted is how long a page that was offline when its meeting ended can still be told where the others went, and
// maxRecentlyDeleted of how many meetings: backends that make and delete them by the thousand cost no more memory than that.
const (
	rememberDeleted    = 10 * time.Minute
	maxRecentlyDeleted = 10_000
)

// recentlyDeleted remembers Meetings whose objects are gone.
type recentlyDeleted struct {
	now   func() time.Time
	mu    sync.Mutex
	byUID *sharedLRU[string, deletedMeeting]
	// rooms are those whose Meeting was deleted before it ended otherwise, and until when that is remembered.
	rooms *sharedLRU[deletedRoom, time.Time]
}

type deletedRoom struct {
	config types.NamespacedName
	room   string
}

// deletedMeeting is what is kept of a Meeting. Only its own tenant finds it.
type deletedMeeting struct {
	config types.NamespacedName
	view   meeting.View
	until  time.Time
}

func newRecentlyDeleted(now func() time.Time) *recentlyDeleted {
	return &recentlyDeleted{now: now, byUID: newSharedLRU[string, deletedMeeting](maxRecentlyDeleted), rooms: newSharedLRU[deletedRoom, time.Time](maxRecentlyDeleted)}
}

func (d *recentlyDeleted) changed(*v1alpha1.Meeting) {}

func (d *recentlyDeleted) gone(m *v1alpha1.Meeting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remember(configOf(m), meeting.View{
		UID: string(m.UID), Lineage: meeting.Lineage(m), Room: m.Spec.Room, Ended: true,
		Redirect: meeting.Redirect(m),
	})
	if !meeting.IsOver(m) || m.Status.EndReason == v1alpha1.EndDeleted {
		d.rooms.add(m.Namespace, deletedRoom{configOf(m), m.Spec.Room}, d.now().Add(rememberDeleted))
	}
}

// absent remembers a Meeting of which nothing is known but that it has gone. What was known before counts.
func (d *recentlyDeleted) absent(config types.NamespacedName, view meeting.View) meeting.View {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.findLocked(config, view.UID); ok {
		return known
	}
	d.remember(config, view)
	return view
}

// remember keeps what is shown of a Meeting that has gone. The caller holds the lock.
func (d *recentlyDeleted) remember(config types.NamespacedName, view meeting.View) {
	d.byUID.add(config.Namespace, view.UID, deletedMeeting{config: config, until: d.now().Add(rememberDeleted), view: view})
}

// hasDeleted says that the Meeting of a room was deleted a short time ago.
func (d *recentlyDeleted) hasDeleted(config types.NamespacedName, room string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	until, ok := d.rooms.find(config.Namespace, deletedRoom{config, room})
	return ok && d.now().Before(until)
}

func (d *recentlyDeleted) find(config types.NamespacedName, uid string) (meeting.View, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.findLocked(config, uid)
}

func (d *recentlyDeleted) findLocked(config types.NamespacedName, uid string) (meeting.View, bool) {
	old, ok := d.byUID.find(config.Namespace, uid)
	if !ok || old.config != config || !d.now().Before(old.until) {
		return meeting.View{}, false
	}
	return old.view, true
}
