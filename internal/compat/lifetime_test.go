// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// lifetimes are held against the npm package ms.
var lifetimes = []string{
	"1h", "90s", "30 minutes", "2 days", "1y", "1.5h", ".5h", "01h", "1 Hour", "2.3h", "10  mins", "1yr", "3 yrs", "4 weeks", "1W", "250msecs", "1500 ms",
	"1 second", "2 hrs", "0s", "0.1y", "1hour", "5 Min", "7 DAYS",
}

// refusedLifetimes are not read, whatever ms makes of them.
var refusedLifetimes = map[string]string{
	"empty": "", "no unit": "3600", "no number": "h", "negative": "-1h", "a sign": "+1h", "two parts": "1h30m", "two parts with a space": "1 h 30 m",
	"space before": " 1h", "space behind": "1h ", "a tab": "1\th", "other digits": "١h", "a dot at the end": "1.h", "two dots": "1.2.3h", "a word": "1 fortnight",
	"a month": "1mo", "an exponent": "1e3s", "hexadecimal": "0x1h", "an underscore": "1_0h", "a comma": "1,5h", "a line break": "1h\n",
	"beyond a Duration": "300y", "far beyond": strings.Repeat("9", 90) + "h", "too long": strings.Repeat("0", 100) + "1h",
}

func TestLifetimesAreThoseOfMS(t *testing.T) {
	var want []float64
	oracle(t, `const ms = require('ms'); console.log(JSON.stringify(JSON.parse(input).map((text) => ms(text))))`, lifetimes, &want)
	for i, text := range lifetimes {
		got, ok := ParseLifetime(text)
		seconds := time.Duration(want[i]*float64(time.Millisecond) + 0.5).Round(time.Millisecond).Truncate(time.Second)
		if !ok || got != seconds {
			t.Errorf("%q is %s, %v; ms says %s", text, got, ok, seconds)
		}
	}
}

func TestRefusedLifetimes(t *testing.T) {
	for reason, text := range refusedLifetimes {
		if got, ok := ParseLifetime(text); ok {
			t.Errorf("%s: %q is read as %s", reason, text, got)
		}
	}
}

func FuzzParseLifetime(f *testing.F) {
	for _, text := range lifetimes {
		f.Add(text)
	}
	for _, text := range refusedLifetimes {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := ParseLifetime(text)
		if ok && (d < 0 || d%time.Second != 0 || text[0] == '-') {
			t.Errorf("%q is %s", text, d)
		}
		if again, _ := ParseLifetime(strconv.FormatInt(int64(d/time.Second), 10) + "s"); ok && again != d {
			t.Errorf("%q is %s, and its seconds are %s", text, d, again)
		}
	})
}
