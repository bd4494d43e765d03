// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// maxDoubted bounds how many are asked for before a guest is refused.
const maxDoubted = 50

// listed are those that the engine lists in a room. Where they take all places and the controllers count fewer, the
// others are asked for: an engine of several servers goes on listing the people of one that was killed.
func (*Service) listed(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	media, err := mediaOf(t, v)
	if err != nil {
		return nil, err
	}
	people, err := media.Engine.Participants(ctx, v.EngineRoom)
	if err != nil || len(people) < limitOf(t, v) || len(people) <= int(v.Counted().ParticipantCount) {
		return people, OfEngine(err)
	}
	absent := make([]bool, len(people))
	var asks errgroup.Group
	doubted := 0
	for i, p := range people {
		if doubted == maxDoubted || isCounted(v, p.Identity) {
			continue
		}
		doubted++
		asks.Go(func() error {
			there, err := media.Engine.Present(ctx, v.EngineRoom, p.Identity)
			absent[i] = err == nil && !there
			return nil
		})
	}
	_ = asks.Wait()
	var there []engine.Participant
	for i, p := range people {
		if !absent[i] {
			there = append(there, p)
		}
	}
	return there, nil
}

// isCounted reports whether a participant is among those that the controllers see in a meeting.
func isCounted(v meeting.View, who engine.Identity) bool {
	return slices.ContainsFunc(v.Peers, func(p v1alpha1.Participant) bool { return p.Identity == string(who) })
}
