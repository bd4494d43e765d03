// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	"convene.dev/convene/api/v1alpha1"
)

// phaseIs says what is wrong unless there is one Meeting, in the phase.
func phaseIs(meetings []v1alpha1.Meeting, phase v1alpha1.MeetingPhase) error {
	if len(meetings) != 1 {
		return fmt.Errorf("%d Meetings", len(meetings))
	}
	if s := meetings[0].Status; s.Phase != phase {
		return fmt.Errorf("phase is %q, want %q: %+v", s.Phase, phase, s)
	}
	return nil
}
