// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/fault"
)

func TestParseLifetime(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"1s": time.Second, "90s": 90 * time.Second, "15m": 15 * time.Minute, "1h": time.Hour, "01h": time.Hour, "24h": 24 * time.Hour,
		"30d": 720 * time.Hour, "2w": 336 * time.Hour, "15250w": 15250 * 168 * time.Hour,
		"30 minutes": 30 * time.Minute, "2 days": 48 * time.Hour, "1y": 8766 * time.Hour, "1.5h": 90 * time.Minute, "1H": time.Hour,
	} {
		if got, err := ParseLifetime(s); err != nil || got != want {
			t.Errorf("ParseLifetime(%q) = %s, %v, want %s", s, got, err, want)
		}
	}
	for reason, s := range map[string]string{
		"empty": "", "no unit": "3600", "no number": "h", "zero": "0s", "more zeros": "000h", "negative": "-1h", "a sign": "+1h",
		"less than a second": "999ms", "two parts": "1h30m", "an unknown unit": "1mo", "space around": " 1h",
		"a word": "1 fortnight", "other digits": "١h", "beyond a Duration": "15251w", "beyond an int64": "99999999999999999999s", "a line break": "1h\n",
		"an exponent": "1e3s", "hexadecimal": "0x1h", "an underscore": "1_0h",
	} {
		_, err := ParseLifetime(s)
		if !fault.Is(err, fault.KindInvalid) || fault.As(err).Field != "expire" {
			t.Errorf("%s: ParseLifetime(%q) gave %v, want Invalid for expire", reason, s, err)
		}
	}
}

func TestLifetimeWithin(t *testing.T) {
	const month = 30 * 24 * time.Hour
	for _, tc := range []struct {
		reason              string
		s                   string
		byDefault, greatest time.Duration
		want                time.Duration
	}{
		{"absent is the default", "", time.Hour, month, time.Hour},
		{"the default keeps to the greatest too", "", time.Hour, time.Minute, time.Minute},
		{"no greatest, the default", "", time.Hour, 0, time.Hour},
		{"no greatest, no limit", "100w", time.Hour, 0, 16800 * time.Hour},
		{"the greatest itself is allowed", "30d", time.Hour, month, month},
	} {
		if got, err := LifetimeWithin(tc.s, tc.byDefault, tc.greatest); err != nil || got != tc.want {
			t.Errorf("%s: got %s, %v, want %s", tc.reason, got, err, tc.want)
		}
	}
	_, err := LifetimeWithin("31d", time.Hour, month)
	if !fault.Is(err, fault.KindInvalid) || !strings.Contains(fault.As(err).Message, "30d") {
		t.Errorf("over the greatest: %v, want Invalid that names 30d", err)
	}
	if _, err := LifetimeWithin("soon", time.Hour, month); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("not a lifetime: %v", err)
	}
}

func FuzzParseLifetime(f *testing.F) {
	for _, s := range []string{"1h", "", "0s", "15251w", "-1m", "999999999999999999999d", "1hh"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseLifetime(s)
		if err != nil {
			return
		}
		if d < time.Second {
			t.Fatalf("ParseLifetime(%q) = %s", s, d)
		}
		if again, err := ParseLifetime(formatLifetime(d)); err != nil || again != d {
			t.Fatalf("%q is written %q, which reads %s, %v", s, formatLifetime(d), again, err)
		}
	})
}
