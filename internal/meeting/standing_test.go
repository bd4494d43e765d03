// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

func TestListsOfIdentities(t *testing.T) {
	m := &v1alpha1.Meeting{}
	if len(Removed(m))+len(Muted(m)) > 0 {
		t.Error("a Meeting without annotations lists somebody")
	}
	m.Annotations = map[string]string{v1alpha1.AnnotationRemoved: "ann-1,bob-2", v1alpha1.AnnotationMuted: ",eve-3,"}
	if diff := cmp.Diff([]engine.Identity{"ann-1", "bob-2"}, Removed(m)); diff != "" {
		t.Errorf("removed (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]engine.Identity{"eve-3"}, Muted(m)); diff != "" {
		t.Errorf("muted (-want +got)\n%s", diff)
	}
}

func TestListed(t *testing.T) {
	list := []engine.Identity{"ann-1", "bob-2"}
	for who, want := range map[engine.Identity]bool{
		"ann-1": true, "ann-9": true, "bob-1": true, "an-1": false, "anna-1": false, "": false, "-1": false, "1-ann": false,
	} {
		if got := Listed(list, who); got != want {
			t.Errorf("%q: %v", who, got)
		}
	}
}
