// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// Indexes of Meetings in the cache.
const (
	byConfig = "config"
	byRoom   = "config/room"
)

// AddIndexes lets Meetings be found by their ConferenceConfig, and by that and the room. There is no index by UID, which would take
// half a kilobyte for each Meeting: a Directory finds them.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for name, key := range map[string]func(*v1alpha1.Meeting) string{
		byConfig: func(m *v1alpha1.Meeting) string { return m.Spec.ConfigRef.Name },
		byRoom:   func(m *v1alpha1.Meeting) string { return roomKey(m.Spec.ConfigRef.Name, m.Spec.Room) },
	} {
		err := indexer.IndexField(ctx, &v1alpha1.Meeting{}, name, func(o client.Object) []string {
			return []string{key(o.(*v1alpha1.Meeting))}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// roomKey cannot be confused: object names hold no slash.
func roomKey(config, room string) string { return config + "/" + room }

// OfConfig lists all Meetings of a ConferenceConfig, shared with the cache: they must not be changed.
func OfConfig(ctx context.Context, c client.Reader, namespace, config string) ([]*v1alpha1.Meeting, error) {
	return list(ctx, c, namespace, byConfig, config)
}

// TotalsOf counts the live Meetings of a ConferenceConfig, and the participants in them, as the cache has them: a controller that the cache
// has woken sees what woke it, while a Directory may be some milliseconds behind.
func TotalsOf(ctx context.Context, c client.Reader, namespace, config string) (meeting.Totals, error) {
	all, err := OfConfig(ctx, c, namespace, config)
	return totalsOf(all), err
}

// PlacesOf are the media servers that Meetings of a ConferenceConfig are on, and those that they left and where participants may
// still be, as their statuses have them. It waits for the cache.
func PlacesOf(ctx context.Context, c client.Reader, config types.NamespacedName) ([]types.NamespacedName, error) {
	all, err := OfConfig(ctx, c, config.Namespace, config.Name)
	places := sets.New[types.NamespacedName]()
	for _, m := range all {
		places.Insert(meeting.LeftPlaces(m)...)
		if m.Status.MediaServer != nil { // An annotation only asks for a place.
			places.Insert(meeting.PlaceOf(m))
		}
	}
	return places.UnsortedList(), err
}

func totalsOf(all []*v1alpha1.Meeting) meeting.Totals {
	i := &tenantIndex{rooms: map[string]*room{}, loads: loads{}}
	for _, m := range all {
		i.index(m, true)
	}
	return i.totals
}

// OfRoom lists all Meetings of a room, shared with the cache: they must not be changed.
func OfRoom(ctx context.Context, c client.Reader, namespace, config, room string) ([]*v1alpha1.Meeting, error) {
	return list(ctx, c, namespace, byRoom, roomKey(config, room))
}

// Around are the Meetings of a Meeting's room that it depends on, as a client reads them: the one that holds the room, and the
// heir that waits for it; nil when there is none. The controllers' client waits for their own writes, as a Directory does not.
func Around(ctx context.Context, c client.Reader, m *v1alpha1.Meeting) (holder, heir *v1alpha1.Meeting, err error) {
	meetings, err := OfRoom(ctx, c, m.Namespace, m.Spec.ConfigRef.Name, m.Spec.Room)
	return meeting.Holder(meetings), meeting.Heir(m, meetings), err
}

func list(ctx context.Context, c client.Reader, namespace, index, key string) ([]*v1alpha1.Meeting, error) {
	var l v1alpha1.MeetingList
	err := c.List(ctx, &l, client.InNamespace(namespace), client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy)
	all := make([]*v1alpha1.Meeting, len(l.Items))
	for i := range l.Items {
		all[i] = &l.Items[i]
	}
	return all, err
}
