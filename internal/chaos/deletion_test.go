// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// kept are the kinds of objects that a tenant's namespace has.
var kept = []client.Object{&v1alpha1.ConferenceConfig{}, &v1alpha1.MediaServer{}, &corev1.Secret{}, &v1alpha1.Meeting{}}

// TestNamespaceDeletedInAnyOrder deletes a tenant's namespace with a guest in a meeting. A cluster deletes one kind of object after
// the other, in any order, and refuses what would be created meanwhile. The manager is killed after each of the kinds, or never.
func TestNamespaceDeletedInAnyOrder(t *testing.T) {
	t.Parallel()
	cluster := testkit.ControlPlane(t)
	for i, order := range orders(kept) {
		if !thorough && i%8 != 0 {
			continue
		}
		killedAfter := i % (len(kept) + 1)
		var name strings.Builder
		for _, o := range order {
			fmt.Fprintf(&name, "%T ", o)
		}
		t.Run(fmt.Sprintf("%skilled after %d", strings.ReplaceAll(name.String(), "*", ""), killedAfter), func(t *testing.T) {
			t.Parallel()
			own := *cluster
			own.Namespace = cluster.NewNamespace(t)
			w := newWorld(t, &own, options{})
			began := time.Now()
			(&telling{world: w, T: t, ctx: t.Context(), room: "board"}).deleteNamespace(order, killedAfter)
			summary.tried("a namespace is deleted", "manager killed", name.String(), !t.Failed(), time.Since(began))
		})
	}
}

// deleteNamespace deletes the world's namespace as a cluster does it: first the namespace is marked, then its objects go.
func (s *telling) deleteNamespace(order []client.Object, killedAfter int) {
	s.must(s.backend.open(s.ctx, map[string]any{"room": s.room, "roomPassword": "sesame"}))
	g := s.enter("sesame")
	s.must(s.Client.Delete(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	for i, kind := range order {
		s.must(s.Client.DeleteAllOf(s.ctx, kind, client.InNamespace(s.Namespace)))
		if i+1 == killedAfter {
			s.manager.Kill()
			s.manager.Start(s)
		}
	}
	s.sentAway(g)
	s.until(func() error {
		rooms, err := s.engine.Rooms(s.ctx, meeting.AllRooms)
		for _, room := range rooms {
			// A manager that has started without LiveKit's key closes no rooms there. LiveKit deletes an empty one itself after a day.
			if killedAfter == 0 || room.Participants > 0 {
				err = fmt.Errorf("LiveKit has %+v", room)
			}
		}
		return err
	})
	s.until(func() error {
		for _, list := range []client.ObjectList{&v1alpha1.MeetingList{}, &v1alpha1.ConferenceConfigList{}, &v1alpha1.MediaServerList{}, &corev1.SecretList{}} {
			s.must(s.Client.List(s.ctx, list, client.InNamespace(s.Namespace)))
			if left := apimeta.LenList(list); left > 0 {
				return fmt.Errorf("%d objects are left in %T", left, list)
			}
		}
		return nil
	})
}

// orders are all orders of these.
func orders[T any](all []T) (found [][]T) {
	if len(all) < 2 {
		return [][]T{all}
	}
	for i := range all {
		for _, order := range orders(slices.Delete(slices.Clone(all), i, i+1)) {
			found = append(found, slices.Insert(order, 0, all[i]))
		}
	}
	return found
}
