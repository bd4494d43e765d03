// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
)

// Length is how long a meeting may last; zero is without limit.
type Length time.Duration

// ParseLength reads HH:MM:SS or unlimited. Empty is an error here: absence is the caller's to decide.
func ParseLength(d v1alpha1.Duration) (Length, error) {
	if d == v1alpha1.Unlimited {
		return 0, nil
	}
	if len(d) != len("HH:MM:SS") || d[2] != ':' || d[5] != ':' {
		return 0, invalidDuration()
	}
	hours, ok1 := twoDigits(d[0:2])
	minutes, ok2 := twoDigits(d[3:5])
	seconds, ok3 := twoDigits(d[6:8])
	if !ok1 || !ok2 || !ok3 || minutes > 59 || seconds > 59 {
		return 0, invalidDuration()
	}
	total := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
	if total == 0 {
		return 0, fault.Invalid("duration", "duration must not be zero; use unlimited for no limit")
	}
	return Length(total), nil
}

func invalidDuration() error {
	return fault.Invalid("duration",
		"duration must be HH:MM:SS with minutes and seconds from 00 to 59, for example 01:30:00, or unlimited")
}

func twoDigits(s v1alpha1.Duration) (int, bool) {
	if s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

// String writes HH:MM:SS or unlimited.
func (l Length) String() string {
	if l == 0 {
		return string(v1alpha1.Unlimited)
	}
	s := int(time.Duration(l).Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// API is the length as the API writes it.
func (l Length) API() v1alpha1.Duration { return v1alpha1.Duration(l.String()) }

// After is when a meeting of this length that began at start is over; zero when it is without limit.
func (l Length) After(start time.Time) time.Time {
	if l == 0 {
		return time.Time{}
	}
	return start.Add(time.Duration(l))
}
