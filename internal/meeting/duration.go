// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
)

// Length is how long a meeting may last; zero is without limit.
type Length time.Duration

// maxLength is the greatest length that both forms can write.
const maxLength = Length(100*time.Hour - time.Second)

// lengthForm is a length as custom resources have it. The schema has the same.
var lengthForm = regexp.MustCompile(`^([0-9]{1,5}[hms]){1,3}$`)

// ParseLength reads a length of a custom resource: Go's form, such as 1h30m, or unlimited. Empty is an error here: absence
// is the caller's to decide.
func ParseLength(d v1alpha1.Duration) (Length, error) {
	if d == v1alpha1.Unlimited {
		return 0, nil
	}
	total, err := time.ParseDuration(string(d))
	switch {
	case !lengthForm.MatchString(string(d)) || err != nil:
		return 0, fault.Invalid("duration", "duration must be hours, minutes and seconds, for example 1h30m or 45m, or unlimited")
	case total == 0:
		return 0, errZeroLength
	case Length(total) > maxLength:
		return 0, fault.Invalid("duration", "duration must be at most %s; use unlimited for no limit", maxLength)
	}
	return Length(total), nil
}

// ParseClock reads a length of the REST API: HH:MM:SS, or unlimited in any case. Empty is an error, as for ParseLength.
func ParseClock(text string) (Length, error) {
	if strings.EqualFold(text, string(v1alpha1.Unlimited)) {
		return 0, nil
	}
	parts := clockForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, errNoClock
	}
	total, err := time.ParseDuration(parts[1] + "h" + parts[2] + "m" + parts[3] + "s")
	switch {
	case err != nil:
		return 0, errNoClock
	case total == 0:
		return 0, errZeroLength
	}
	return Length(total), nil
}

// clockForm is a length as the REST API has it.
var clockForm = regexp.MustCompile(`^([0-9]{2}):([0-5][0-9]):([0-5][0-9])$`)

var (
	errNoClock    = fault.Invalid("duration", "duration must be HH:MM:SS with minutes and seconds from 00 to 59, for example 01:30:00, or unlimited")
	errZeroLength = fault.Invalid("duration", "duration must not be zero; use unlimited for no limit")
)

// Duration is the length as custom resources have it, without parts that are zero: 1h30m.
func (l Length) Duration() v1alpha1.Duration {
	if l == 0 {
		return v1alpha1.Unlimited
	}
	text := time.Duration(l).String()
	for _, zero := range []struct{ after, part string }{{"m", "0s"}, {"h", "0m"}} {
		if strings.HasSuffix(text, zero.after+zero.part) {
			text = strings.TrimSuffix(text, zero.part)
		}
	}
	return v1alpha1.Duration(text)
}

// String is for people who read logs and errors.
func (l Length) String() string { return string(l.Duration()) }

// Clock is the length as the REST API and the pages have it: HH:MM:SS or unlimited.
func (l Length) Clock() string {
	if l == 0 {
		return string(v1alpha1.Unlimited)
	}
	s := int(time.Duration(l).Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// SameLength reports whether two durations of custom resources are as long as each other: 90m is 1h30m. Empty is none.
func SameLength(a, b v1alpha1.Duration) bool {
	x, errX := ParseLength(a)
	y, errY := ParseLength(b)
	return errX == nil && errY == nil && x == y
}

// After is when a meeting of this length that began at start is over; zero when it is without limit.
func (l Length) After(start time.Time) time.Time {
	if l == 0 {
		return time.Time{}
	}
	return start.Add(time.Duration(l))
}
