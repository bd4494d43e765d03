// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"sync"
	"time"

	"convene.dev/convene/api/v1alpha1"
)

// currency knows until when the Directory has all that the API server has. The cache shows versions in their order: once it shows a Meeting that
// this replica made, it has shown all that was written before.
type currency struct {
	mu sync.Mutex
	// until is zero until this replica has made a Meeting, shown the newest version that the cache has shown.
	until time.Time
	shown uint64
	// awaited is the version of a Meeting that this replica made and the cache has not shown, or zero. Begun is when the create began.
	awaited uint64
	begun   time.Time
}

func (c *currency) changed(m *v1alpha1.Meeting) { c.show(versionOf(m)) }
func (c *currency) gone(m *v1alpha1.Meeting)    { c.show(versionOf(m)) }

func (c *currency) show(version uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = max(c.shown, version)
	if c.awaited != 0 && c.shown >= c.awaited {
		c.until, c.awaited = c.begun, 0
	}
}

// made takes in a Meeting that this replica made. One at a time is awaited: in a burst of creates the next one is soon there.
func (c *currency) made(version uint64, begun time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.shown >= version && begun.After(c.until):
		c.until = begun
	case c.shown < version && c.awaited == 0:
		c.awaited, c.begun = version, begun
	}
}

// Made takes in that this replica has made a Meeting, and when the create began.
func (d *Directory) Made(m *v1alpha1.Meeting, begun time.Time) { d.currency.made(versionOf(m), begun) }

// Lag is for how long others may have written what the Directory does not have. It is small only while this replica makes Meetings.
func (d *Directory) Lag() time.Duration {
	d.currency.mu.Lock()
	defer d.currency.mu.Unlock()
	return time.Since(d.currency.until)
}
