// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"testing"

	"convene.dev/convene/api/v1alpha1"
)

// aSource is the list of a cache.
type aSource struct {
	version  string
	meetings []*v1alpha1.Meeting
}

func (s aSource) LastStoreSyncResourceVersion() string { return s.version }

func (s aSource) List() (all []any) {
	for _, m := range s.meetings {
		all = append(all, m)
	}
	return all
}

// The version of the cache's list counts only when the directory has what the list has: its events come later.
func TestTheListsVersionCountsOnceTheDirectoryHasIt(t *testing.T) {
	a, b := aMeeting("1", "a", "board", 0, 7), aMeeting("2", "a", "lobby", 0, 8)
	for _, c := range []struct {
		reason string
		feed   func(*Directory)
		source aSource
		shown  uint64
	}{
		{"all is there", func(d *Directory) { d.changed(a); d.changed(b) }, aSource{"50", []*v1alpha1.Meeting{a, b}}, 50},
		{"none is there", func(*Directory) {}, aSource{"50", nil}, 50},
		{"one is missing", func(d *Directory) { d.changed(a) }, aSource{"50", []*v1alpha1.Meeting{a, b}}, 7},
		{"one is older", func(d *Directory) { d.changed(a) }, aSource{"50", []*v1alpha1.Meeting{aMeeting("1", "a", "board", 0, 9)}}, 7},
		{"one is newer", func(d *Directory) { d.changed(b) }, aSource{"50", []*v1alpha1.Meeting{aMeeting("2", "a", "lobby", 0, 6)}}, 50},
		{"one has gone from the list", func(d *Directory) { d.changed(a) }, aSource{"50", nil}, 7},
		{"one was written since", func(d *Directory) { d.Learn(a) }, aSource{"50", nil}, 50},
		{"one is younger than the list", func(d *Directory) { d.changed(a) }, aSource{"6", nil}, 7},
		{"one has gone since", func(d *Directory) { d.changed(a); d.gone(a) }, aSource{"50", []*v1alpha1.Meeting{a}}, 50},
		{"the list has not begun", func(d *Directory) { d.changed(a) }, aSource{"", nil}, 7},
	} {
		d := newDirectory(Options{Source: c.source})
		c.feed(d)
		d.follow()
		if got := d.versions.shown; got != c.shown {
			t.Errorf("%s: %d is taken for shown, want %d", c.reason, got, c.shown)
		}
	}
}
