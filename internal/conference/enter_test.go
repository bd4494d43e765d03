// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// What another replica knows is waited for before a participant is let in.
func TestLinksWaitForWhatOtherReplicasKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shown := replicaWith(t, nil, func(context.Context) uint64 { return 8 })
		live := &v1alpha1.Meeting{}
		live.Namespace, live.Name, live.UID, live.ResourceVersion = "ns", "room", "u1", "7"
		live.Spec.Room, live.Spec.ConfigRef.Name = "room", "a"
		shown.shows(live)
		type answer struct {
			view meeting.View
			err  error
		}
		entered := make(chan answer, 1)
		go func() {
			v, err := s.Enter(t.Context(), &tenant.Tenant{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "a"}}, "room", "")
			entered <- answer{v, err}
		}()
		synctest.Wait()
		if len(entered) > 0 {
			t.Error("it does not wait")
		}
		ending := live.DeepCopy()
		ending.ResourceVersion, ending.Spec.End = "8", &v1alpha1.MeetingEnd{}
		shown.shows(ending)
		if got := <-entered; got.err == nil || !got.view.Ended {
			t.Errorf("it lets people into what another replica has ended: %v", got.err)
		}
	})
}
