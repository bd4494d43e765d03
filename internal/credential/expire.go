// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"math"
	"strconv"
	"strings"
	"time"

	"convene.dev/convene/internal/fault"
)

var lifetimeUnits = map[byte]time.Duration{
	's': time.Second,
	'm': time.Minute,
	'h': time.Hour,
	'd': 24 * time.Hour,
	'w': 7 * 24 * time.Hour,
}

var errLifetime = fault.Invalid("expire", "expire must be a whole number above zero followed by s, m, h, d or w, for example 1h")

// ParseLifetime reads a token's lifetime: a whole number above zero followed by s, m, h, d or w. Every error is Invalid
// and names the field expire; so does a lifetime beyond what a time.Duration holds, about 292 years.
func ParseLifetime(s string) (time.Duration, error) {
	if s == "" {
		return 0, errLifetime
	}
	digits, unit := s[:len(s)-1], lifetimeUnits[s[len(s)-1]]
	if unit == 0 || strings.Trim(digits, "0123456789") != "" {
		return 0, errLifetime
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/int64(unit) {
		return 0, errLifetime
	}
	return time.Duration(n) * unit, nil
}

// LifetimeWithin reads a token's lifetime as ParseLifetime does; an empty one is byDefault, and one above greatest is
// Invalid. A greatest of zero is no limit.
func LifetimeWithin(s string, byDefault, greatest time.Duration) (time.Duration, error) {
	if s == "" {
		if greatest > 0 {
			return min(byDefault, greatest), nil
		}
		return byDefault, nil
	}
	d, err := ParseLifetime(s)
	if err != nil {
		return 0, err
	}
	if greatest > 0 && d > greatest {
		return 0, fault.Invalid("expire", "expire must not be longer than %s: ask for a shorter one", formatLifetime(greatest))
	}
	return d, nil
}

// formatLifetime writes a lifetime in the grammar that ParseLifetime reads, in the greatest unit that fits.
func formatLifetime(d time.Duration) string {
	for _, unit := range []byte("wdhm") {
		if size := lifetimeUnits[unit]; d >= size && d%size == 0 {
			return strconv.FormatInt(int64(d/size), 10) + string(unit)
		}
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}
