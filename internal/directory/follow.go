// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"sync"

	"convene.dev/convene/api/v1alpha1"
)

// Follower has functions that are called with Meetings, once the Directory has these Meetings in the same state. No function may block.
type Follower struct {
	// Found is called with each Meeting that the Directory has when the Follower begins.
	Found         func(*v1alpha1.Meeting)
	Changed, Gone func(*v1alpha1.Meeting)
}

// followers follow what the cache shows.
type followers struct {
	mu  sync.Mutex
	all map[*Follower]struct{}
}

func (f *followers) changed(m *v1alpha1.Meeting) {
	f.tell(func(to *Follower) { to.Changed(m) })
}

func (f *followers) gone(m *v1alpha1.Meeting) {
	f.tell(func(to *Follower) { to.Gone(m) })
}

func (f *followers) tell(what func(*Follower)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for to := range f.all {
		what(to)
	}
}

// Follow calls a Follower with all Meetings and their changes, until stop is called.
func (d *Directory) Follow(f Follower) (stop func()) {
	d.followers.mu.Lock()
	defer d.followers.mu.Unlock()
	for _, m := range d.All() {
		f.Found(m)
	}
	d.followers.all[&f] = struct{}{}
	return func() {
		d.followers.mu.Lock()
		defer d.followers.mu.Unlock()
		delete(d.followers.all, &f)
	}
}
