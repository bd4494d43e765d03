// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Known is the newest version of a Meeting that this replica has shown or confirmed to a caller.
func (s *Store) Known() uint64 { return s.directory.versions.newest() }

// ByUID finds a meeting of the tenant, also one that has ended, for ten minutes after its object is gone.
func (s *Store) ByUID(_ context.Context, t *tenant.Tenant, uid string) (meeting.View, bool) {
	if m := s.directory.of(t, uid); m != nil {
		return view(t, m), true
	}
	return s.recentlyDeleted.find(t.NamespacedName, uid)
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

// elsewhere looks past the cache for a live Meeting of a room that the API made: another replica, which cannot be asked now,
// may have made it a moment ago. It is for those who hold a key or a ticket, because it costs the cluster's API a call.
func (s *Store) elsewhere(ctx context.Context, t *tenant.Tenant, room string) (*v1alpha1.Meeting, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	var m v1alpha1.Meeting
	err := s.client.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: meeting.ObjectName(t.Name, room)}, &m)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case meeting.IsOver(&m) || m.Spec.Room != room || configOf(&m) != t.NamespacedName:
		return nil, nil
	}
	return &m, nil
}
