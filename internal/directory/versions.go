// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"convene.dev/convene/api/v1alpha1"
)

// versions follow how new what this replica shows is, over all Meetings. They are safe for concurrent use.
type versions struct {
	mu sync.Mutex
	// known is the newest version that a caller may have been told of, shown the newest that the cache has brought.
	known, shown uint64
	waiting      []awaited
}

// awaited is a version that a reader waits for.
type awaited struct {
	version uint64
	shown   chan struct{}
}

// Known is the newest version of a Meeting that this replica has shown or confirmed to a caller.
func (d *Directory) Known() uint64 { return d.versions.newest() }

// Confirm notes that a caller learns of this version of a Meeting.
func (d *Directory) Confirm(m *v1alpha1.Meeting) { d.versions.know(versionOf(m)) }

// know notes that a caller may learn of a version.
func (v *versions) know(version uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known = max(v.known, version)
}

func (v *versions) newest() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known
}

// show notes that the cache has brought all up to a version: it brings them in their order.
func (v *versions) show(version uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown = max(v.shown, version)
	v.waiting = slices.DeleteFunc(v.waiting, func(a awaited) bool {
		if a.version > v.shown {
			return false
		}
		close(a.shown)
		return true
	})
}

// hasShown reports whether the cache has brought all up to a version.
func (v *versions) hasShown(version uint64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown >= version
}

// await waits until the cache has brought all up to a version, or the context ends. It reports which.
func (v *versions) await(ctx context.Context, version uint64) bool {
	v.mu.Lock()
	if v.shown >= version {
		v.mu.Unlock()
		return true
	}
	a := awaited{version: version, shown: make(chan struct{})}
	v.waiting = append(v.waiting, a)
	v.mu.Unlock()
	select {
	case <-a.shown:
		return true
	case <-ctx.Done():
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting = slices.DeleteFunc(v.waiting, func(other awaited) bool { return other.shown == a.shown })
	return false
}

// versionOf orders the states of one object. The API promises that versions of one resource can be compared as
// numbers (KEP-5504).
func versionOf(m *v1alpha1.Meeting) uint64 {
	version, err := strconv.ParseUint(m.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return version
}
