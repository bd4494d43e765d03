// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"fmt"
	"testing"
)

// TestWhatIsRememberedIsShared: a namespace that deletes by the thousand has its own oldest forgotten.
func TestWhatIsRememberedIsShared(t *testing.T) {
	l := newSharedLRU[string, int](100)
	for i := range 30 {
		l.add("few", fmt.Sprint(i), i)
	}
	for i := range 1000 {
		l.add("many", fmt.Sprint(i), i)
		l.add("many", fmt.Sprint(i), -i) // Again.
	}
	for i := range 30 {
		l.add("other", fmt.Sprint(i), i)
	}
	for _, tc := range []struct {
		namespace, key string
		want           bool
	}{
		{"few", "0", true}, {"few", "29", true}, {"other", "0", true}, {"other", "29", true},
		{"many", "0", false}, {"many", "959", false}, {"many", "960", true}, {"many", "999", true}, {"nobody", "0", false},
	} {
		if _, got := l.find(tc.namespace, tc.key); got != tc.want {
			t.Errorf("%s of %s is remembered: %t", tc.key, tc.namespace, got)
		}
	}
	if value, _ := l.find("many", "999"); value != -999 || l.size != 100 {
		t.Errorf("the last is %d, of %d", value, l.size)
	}
	for i := range 1000 {
		namespace := fmt.Sprint("namespace ", i)
		l.add(namespace, "one", i)
		if _, last := l.find(namespace, "one"); !last {
			t.Fatalf("what was added last is forgotten, of %s", namespace)
		}
	}
	if l.size != 100 || len(l.of) != 100 {
		t.Errorf("%d things of %d namespaces", l.size, len(l.of))
	}
}
