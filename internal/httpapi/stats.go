// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"convene.dev/convene/internal/meeting"
)

// stats is GET stats.
func (c *call) stats() (answer, error) {
	ctx, cancel := c.within()
	defer cancel()
	totals, err := c.api.meetings.Totals(ctx, c.tenant)
	if err != nil {
		return nil, err
	}
	return statsAnswer{at: c.clusterTime(), totals: totals}, nil
}

type statsAnswer struct {
	success
	at     time.Time
	totals meeting.Totals
}

func (a statsAnswer) body(e *encoder) {
	e.raw(`{"success":true,"timestamp":`)
	e.time(a.at)
	e.raw(`,"totalRooms":`)
	e.int(a.totals.Rooms)
	e.raw(`,"totalUsers":`)
	e.int(a.totals.Users)
	// The same number under the name that clients of variant B read.
	e.raw(`,"totalPeers":`)
	e.int(a.totals.Users)
	e.raw(`}`)
}
