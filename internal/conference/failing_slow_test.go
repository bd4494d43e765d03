// SPDX-License-Identifier: Apache-2.0

//go:build slow

package conference

import (
	"maps"
	"slices"
	"testing"
)

func TestARoomOutlastsEveryFailureAtItsNextMeeting(t *testing.T) {
	outlasts(t, slices.Sorted(maps.Keys(nextMeeting)), slices.Sorted(maps.Keys(failures(nil))), []bool{false, true})
}
