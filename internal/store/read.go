// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Totals counts a tenant's live meetings and the people in them.
func (s *Store) Totals(ctx context.Context, t *tenant.Tenant) (meeting.Totals, error) {
	live, err := s.live(ctx, t)
	totals := meeting.Totals{Rooms: len(live)}
	for _, m := range live {
		totals.Users += int(m.Status.ParticipantCount)
	}
	return totals, asFault(err)
}

// Live lists a tenant's live meetings, oldest first.
func (s *Store) Live(ctx context.Context, t *tenant.Tenant) ([]meeting.View, error) {
	live, err := s.live(ctx, t)
	views := make([]meeting.View, 0, len(live))
	for _, m := range live {
		views = append(views, view(t, m))
	}
	return views, asFault(err)
}

// live lists the Meetings that have their rooms and are not leaving, oldest first.
func (s *Store) live(ctx context.Context, t *tenant.Tenant) ([]*v1alpha1.Meeting, error) {
	all, err := OfConfig(ctx, s.meetings, t.Namespace, t.Name)
	if err != nil {
		return nil, err
	}
	standing := make([]*v1alpha1.Meeting, 0, len(all))
	for i := range all {
		if !meeting.IsOver(&all[i]) {
			standing = append(standing, &all[i])
		}
	}
	sortByAge(standing)
	taken := make(map[string]bool, len(standing))
	live := standing[:0]
	for _, m := range standing {
		if taken[m.Spec.Room] {
			continue
		}
		taken[m.Spec.Room] = true
		if !meeting.IsLeaving(m) {
			live = append(live, m)
		}
	}
	return live, nil
}

// ByUID finds a meeting of the tenant, also one that has ended, for ten minutes after its object is gone.
func (s *Store) ByUID(ctx context.Context, t *tenant.Tenant, uid string) (meeting.View, bool) {
	found, err := WithUID(ctx, s.meetings, uid)
	if err != nil {
		return meeting.View{}, false
	}
	for i := range found {
		if m := &found[i]; m.Namespace == t.Namespace && m.Spec.ConfigRef.Name == t.Name {
			return view(t, m), true
		}
	}
	return s.graves.find(uid)
}
