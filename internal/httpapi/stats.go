// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"convene.dev/convene/internal/httpserver"
)

// statsBody is the answer of GET stats.
type statsBody struct {
	Success    bool      `json:"success"`
	Timestamp  time.Time `json:"timestamp"`
	TotalRooms int       `json:"totalRooms"`
	TotalUsers int       `json:"totalUsers"`
	// TotalPeers is the same number under the name that clients of variant B read.
	TotalPeers int `json:"totalPeers"`
}

// stats is GET stats.
func (a *api) stats(q *httpserver.Request) (httpserver.Answer, error) {
	totals := a.meetings.Totals(q.Tenant)
	return ok(statsBody{
		Success: true, Timestamp: a.clusterTime().UTC().Truncate(time.Second),
		TotalRooms: totals.Rooms, TotalUsers: totals.Users, TotalPeers: totals.Users,
	}), nil
}
