// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
)

// TestLoads: a Meeting counts for all where it is placed. Before that the place that it asks for counts for its namespace alone.
func TestLoads(t *testing.T) {
	d := newDirectory(Options{})
	livekit := types.NamespacedName{Namespace: "media", Name: "livekit"}
	check := func(when string, all, ns, other int) {
		t.Helper()
		if a, n, o := d.LoadOf(livekit), d.LoadFor("ns")(livekit), d.LoadFor("other")(livekit); a != all || n != ns || o != other {
			t.Errorf("%s: %d for all, %d for its namespace, %d for another; want %d, %d, %d", when, a, n, o, all, ns, other)
		}
	}
	m := aMeeting("1", "a", "board", 1, 1)
	m.Annotations = map[string]string{v1alpha1.AnnotationMediaServer: livekit.String()}
	d.changed(m)
	check("asked for", 0, 1, 0)
	placed := m.DeepCopy()
	placed.ResourceVersion = "2"
	placed.Status.MediaServer = &v1alpha1.MediaServerReference{Namespace: livekit.Namespace, Name: livekit.Name}
	placed.Status.ParticipantCount = 3
	d.changed(placed)
	check("placed", 4, 4, 4)
	d.gone(placed)
	check("gone", 0, 0, 0)
	if len(d.loads) != 0 {
		t.Errorf("loads of nothing are kept: %v", d.loads)
	}
}
