// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	year = 36525 * day / 100
)

// units are those of the npm package ms, with which other services read a token's lifetime.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "msec": time.Millisecond, "msecs": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": day, "day": day, "days": day,
	"w": 7 * day, "week": 7 * day, "weeks": 7 * day,
	"y": year, "yr": year, "yrs": year, "year": year, "years": year,
}

// lifetime is a number with or without a fraction, spaces or none, and a unit. The npm package ms takes no more than 100
// characters, and neither does this.
var lifetime = regexp.MustCompile(`^([0-9]*\.?[0-9]+) *([A-Za-z]+)$`)

const maxLifetimeText = 100

// ParseLifetime reads a length of time as the npm package ms does: `30 minutes`, `2 days`, `1.5h`, `1y`. A number without a
// unit, which ms takes for milliseconds, and a negative one are not ok, nor is what a time.Duration does not hold. What is
// shorter than a second is cut off.
func ParseLifetime(text string) (d time.Duration, ok bool) {
	if len(text) > maxLifetimeText {
		return 0, false
	}
	parts := lifetime.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	unit := units[strings.ToLower(parts[2])]
	number, err := strconv.ParseFloat(parts[1], 64)
	nanoseconds := number * float64(unit)
	if err != nil || unit == 0 || nanoseconds >= math.MaxInt64 {
		return 0, false
	}
	// 2.3 hours are 8,280 seconds, however a float writes them.
	return time.Duration(nanoseconds).Round(time.Millisecond).Truncate(time.Second), true
}
