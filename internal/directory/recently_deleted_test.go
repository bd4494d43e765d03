// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
)

// Where the others went is told for some time, to the tenant whose meeting it was, and costs bounded memory.
func TestGraves(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	g := newRecentlyDeleted(func() time.Time { return now })
	remove := func(uid string) {
		g.gone(&v1alpha1.Meeting{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", UID: types.UID(uid)},
			Spec:       v1alpha1.MeetingSpec{ConfigRef: v1alpha1.ConfigReference{Name: "a"}, Room: "room of " + uid},
		})
	}
	a, b := types.NamespacedName{Namespace: "team", Name: "a"}, types.NamespacedName{Namespace: "team", Name: "b"}
	remove("first")
	if view, ok := g.find(a, "first"); !ok || view.Room != "room of first" || !view.Ended {
		t.Errorf("found %t: %+v", ok, view)
	}
	if view, ok := g.find(b, "first"); ok {
		t.Errorf("another tenant finds %+v", view)
	}
	now = now.Add(rememberDeleted)
	if view, ok := g.find(a, "first"); ok {
		t.Errorf("%s later there is %+v", rememberDeleted, view)
	}
	for i := range maxRecentlyDeleted + 1 {
		remove(fmt.Sprint(i))
	}
	if _, ok := g.find(a, "0"); ok || g.byUID.size != maxRecentlyDeleted {
		t.Errorf("the oldest is found: %t, of %d", ok, g.byUID.size)
	}
	if _, ok := g.find(a, "1"); !ok {
		t.Error("the next one is not found")
	}
}
