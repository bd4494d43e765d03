// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
)

// TestAbilities holds the table against the custom resources, and reads back what it lists.
func TestAbilities(t *testing.T) {
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[v1alpha1.MeetingPolicy]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	all := Media | Chat
	if names := all.Names(); !slices.Equal(names, fields) {
		t.Errorf("the abilities are %q, the fields of a policy %q", names, fields)
	}
	for set := range all + 1 {
		if got := NamedAbilities(set.Names()...); got != set {
			t.Errorf("the names %q of %b are read as %b", set.Names(), set, got)
		}
		if got := OfSources(set.Sources()); got != set&Media {
			t.Errorf("the sources %q of %b are read as %b", set.Sources(), set, got)
		}
	}
	for _, a := range AllAbilities() {
		var p v1alpha1.MeetingPolicy
		*a.Audience(&p) = v1alpha1.Presenters
		if got := reflect.ValueOf(p).Field(slices.Index(fields, a.Name)).String(); got != string(v1alpha1.Presenters) {
			t.Errorf("%s names another field of a policy", a.Name)
		}
		if a.Words == "" {
			t.Errorf("%s has no words", a.Name)
		}
	}
}
