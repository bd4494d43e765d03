// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"strconv"
	"time"

	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/fault"
)

// lifetimeUnits are those in which a lifetime is written in errors.
var lifetimeUnits = map[byte]time.Duration{
	'm': time.Minute,
	'h': time.Hour,
	'd': 24 * time.Hour,
	'w': 7 * 24 * time.Hour,
}

var errLifetime = fault.Invalid("expire", "expire must be a number above zero with a unit, for example 1h, 30 minutes or 2 days")

// ParseLifetime reads a token's lifetime of at least a second: a number and a unit, as compat.ParseLifetime has them. Every
// error is Invalid and names the field expire.
func ParseLifetime(s string) (time.Duration, error) {
	d, ok := compat.ParseLifetime(s)
	if !ok || d < time.Second {
		return 0, errLifetime
	}
	return d, nil
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
