// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Totals counts a tenant's live meetings and the people in them.
func (s *Store) Totals(_ context.Context, t *tenant.Tenant) (meeting.Totals, error) {
	return s.directory.totals(t), nil
}

// Live lists a tenant's live meetings, oldest first.
func (s *Store) Live(ctx context.Context, t *tenant.Tenant) ([]meeting.View, error) {
	s.catchUp(ctx)
	live := s.directory.live(t)
	views := make([]meeting.View, len(live))
	for i, m := range live {
		views[i] = view(t, m)
	}
	return views, nil
}

// catchUpTimeout bounds how long a reader waits for a cache that has fallen behind those of the other replicas.
const catchUpTimeout = time.Second

// catchUp waits until this replica knows all that another has shown or confirmed. A cache to which nothing comes is not
// waited for long: what it has is better than nothing.
func (s *Store) catchUp(ctx context.Context) {
	if s.newest == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	s.directory.versions.await(ctx, s.newest(ctx))
}

// Known is the newest version of a Meeting that this replica has shown or confirmed to anybody.
func (s *Store) Known() uint64 { return s.directory.versions.newest() }

// ByUID finds a meeting of the tenant, also one that has ended, for ten minutes after its object is gone.
func (s *Store) ByUID(_ context.Context, t *tenant.Tenant, uid string) (meeting.View, bool) {
	if m := s.directory.of(t, uid); m != nil {
		return view(t, m), true
	}
	return s.graves.find(t.NamespacedName, uid)
}

// WithUID finds a Meeting of any tenant; nil when there is none. It is shared: it must not be changed.
func (s *Store) WithUID(uid string) *v1alpha1.Meeting { return s.directory.withUID(uid) }

// current is the tenant's Meeting with a UID. Gone when there is none any more.
func (s *Store) current(t *tenant.Tenant, uid string) (*v1alpha1.Meeting, error) {
	if m := s.directory.of(t, uid); m != nil {
		return m, nil
	}
	return nil, ended()
}

// elsewhere looks for a live Meeting of a room past the cache: another replica may have made it a moment ago. It is
// for those who hold a key or a ticket, because it costs the cluster's API a call.
func (s *Store) elsewhere(ctx context.Context, t *tenant.Tenant, room string) (*v1alpha1.Meeting, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	var found v1alpha1.MeetingList
	err := s.client.List(ctx, &found, client.InNamespace(t.Namespace), client.MatchingFields{"spec.room": room})
	if err != nil {
		return nil, err
	}
	var sameConfig []*v1alpha1.Meeting
	for i := range found.Items {
		if m := &found.Items[i]; configOf(m) == t.NamespacedName {
			sameConfig = append(sameConfig, m)
		}
	}
	slices.SortFunc(sameConfig, byAge)
	return holderOf(sameConfig), nil
}
