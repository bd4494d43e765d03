// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// roomsAtOnce bounds how many rooms one listing asks for at the same time, and askTimeout all its questions together.
	roomsAtOnce = 16
	askTimeout  = 2 * time.Second
)

// askPeers asks the media server for the participants of meetings, where the tenant's Meetings do not show them. What it does not
// answer in time stays empty: the count is known without it. Once it has failed to answer it is not asked again.
func askPeers(ctx context.Context, t *tenant.Tenant, views []meeting.View) {
	if !t.NamesHidden {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asks, ctx := errgroup.WithContext(ctx)
	asks.SetLimit(roomsAtOnce)
	for i := range views {
		v := &views[i]
		media := t.MediaAt(v.MediaServer)
		if v.Counted().ParticipantCount == 0 || media == nil {
			continue
		}
		asks.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			people, err := media.Engine.Participants(ctx, v.EngineRoom)
			if err == nil {
				v.Peers = meeting.Participants(people, v.Created)
			}
			return err
		})
	}
	_ = asks.Wait()
}
