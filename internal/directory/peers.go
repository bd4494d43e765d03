// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// roomsAtOnce bounds how many rooms one listing asks for at the same time, and askTimeout all its questions together.
	roomsAtOnce = 16
	askTimeout  = 2 * time.Second
)

// peersAsker asks media servers for the participants of meetings, where the tenant's Meetings do not show them. What they do not
// answer in time stays empty: the count is known without it. Once one has failed to answer none is asked again.
type peersAsker struct {
	tenant *tenant.Tenant
	// left is the time for questions.
	left   time.Duration
	failed bool
}

func (a *peersAsker) ask(ctx context.Context, views []meeting.View) {
	if !a.tenant.NamesHidden || a.failed {
		return
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, a.left)
	defer cancel()
	asks, ctx := errgroup.WithContext(ctx)
	asks.SetLimit(roomsAtOnce)
	for i := range views {
		v := &views[i]
		media := a.tenant.MediaAt(v.MediaServer)
		if v.Counted().ParticipantCount == 0 || media == nil {
			continue
		}
		asks.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			ctx, end := limit.Holding(ctx)
			defer end()
			people, err := media.Engine.Participants(ctx, v.EngineRoom)
			if err == nil {
				v.Peers = meeting.Participants(people, v.Created)
			}
			return err
		})
	}
	a.failed = asks.Wait() != nil
	a.left -= time.Since(began)
}
