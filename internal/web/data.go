// SPDX-License-Identifier: Apache-2.0

package web

import (
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
)

// dataRate is how many bytes the participants of one meeting are sent a second, and at once: a message counts once for each recipient. What a
// recipient has not received yet, LiveKit holds, and takes twice as much memory for it.
var dataRate = limit.Rate{PerSecond: 2 << 20, Burst: 16 << 20}

// dataKey is of a meeting, because one link makes as many participants as its holder likes. Presenters have a bucket of their own: they are
// heard while others write too much.
type dataKey struct {
	tenant    types.UID
	meeting   string
	presenter bool
}

// takeData refuses what is too much for the meeting of a participant.
func (h *handler) takeData(q *httpserver.Request, p participant, bytes, recipients int) error {
	key := dataKey{q.Tenant.UID, p.view.UID, p.Presenter}
	if wait := h.data.TakeN(key, dataRate, bytes*recipients, q.Start); wait > 0 {
		return httpserver.TooMany(wait, "There are too many messages in this meeting; wait")
	}
	return nil
}

// recipients is how many participants receive what is sent to all. The status has a count of some seconds ago, and this replica knows only who
// came in through it.
func (h *handler) recipients(p participant) int {
	return max(1, int(p.view.Counted().ParticipantCount), h.admission.Connected(p.view.EngineRoom))
}
