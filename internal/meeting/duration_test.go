// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
)

func TestParseLength(t *testing.T) {
	const form = "duration must be hours, minutes and seconds, for example 1h30m or 45m, or unlimited"
	for _, tc := range []struct {
		reason string
		in     v1alpha1.Duration
		want   time.Duration
		// says is part of the message; empty where the value is good.
		says string
	}{
		{"an hour and a half", "1h30m", 90 * time.Minute, ""},
		{"in minutes", "90m", 90 * time.Minute, ""},
		{"in all units", "1h29m60s", 90 * time.Minute, ""},
		{"a second", "1s", time.Second, ""},
		{"the longest", "99h59m59s", 100*time.Hour - time.Second, ""},
		{"the longest, in seconds and minutes", "5999m59s", 100*time.Hour - time.Second, ""},
		{"no limit", "unlimited", 0, ""},
		{"zero would end at once", "0s", 0, "must not be zero; use unlimited"},
		{"zero in all units", "0h0m0s", 0, "must not be zero; use unlimited"},
		{"longer than the API can write", "100h", 0, "at most 99h59m59s; use unlimited"},
		{"the longest that the schema's pattern takes", "99999h99999h99999h", 0, "at most 99h59m59s"},
		{"absence is for the caller", "", 0, form},
		{"the form of the REST API", "01:30:00", 0, form},
		{"no unit", "90", 0, form},
		{"a fraction", "1.5h", 0, form},
		{"a sign", "-1h", 0, form},
		{"days", "1d", 0, form},
		{"milliseconds", "1500ms", 0, form},
		{"too many digits", "100000s", 0, form},
		{"too many parts", "1h1m1s1s", 0, form},
		{"another case", "1H", 0, form},
		{"no limit, in another case", "Unlimited", 0, form},
		{"digits of another script", "٣h", 0, form},
		{"a line end", "1h\n", 0, form},
	} {
		got, err := ParseLength(tc.in)
		checkParsed(t, tc.reason, string(tc.in), got, err, tc.want, tc.says)
	}
}

func checkParsed(t *testing.T, reason, in string, got Length, err error, want time.Duration, says string) {
	t.Helper()
	switch {
	case says == "" && (err != nil || got != Length(want)):
		t.Errorf("%s: %q is %v, %v; want %v", reason, in, time.Duration(got), err, want)
	case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
		t.Errorf("%s: %q: %v does not say %q", reason, in, err, says)
	case err != nil && (!fault.Is(err, fault.KindInvalid) || fault.As(err).Field != "duration"):
		t.Errorf("%s: %#v is not about the field duration", reason, err)
	}
}

func TestParseClock(t *testing.T) {
	for _, tc := range []struct {
		reason string
		in     string
		want   time.Duration
		// says is part of the message; empty where the value is good.
		says string
	}{
		{"an hour and a half", "01:30:00", 90 * time.Minute, ""},
		{"a second", "00:00:01", time.Second, ""},
		{"the longest", "99:59:59", 100*time.Hour - time.Second, ""},
		{"no limit", "unlimited", 0, ""},
		{"zero would end at once", "00:00:00", 0, "must not be zero; use unlimited"},
		{"absence is for the caller", "", 0, "HH:MM:SS"},
		{"60 minutes", "00:60:00", 0, "00 to 59"},
		{"60 seconds", "00:00:60", 0, "00 to 59"},
		{"one digit", "1:00:00", 0, "HH:MM:SS"},
		{"three digits", "100:00:00", 0, "HH:MM:SS"},
		{"no seconds", "01:00", 0, "HH:MM:SS"},
		{"a sign", "+1:00:00", 0, "HH:MM:SS"},
		{"letters", "aa:bb:cc", 0, "HH:MM:SS"},
		{"digits of another script", "٠١:٠٠:٠٠", 0, "HH:MM:SS"},
		{"no limit in another case", "Unlimited", 0, ""},
		{"a Go duration", "1h30m", 0, "HH:MM:SS"},
		{"a line end", "01:00:00\n", 0, "HH:MM:SS"},
		{"space", " 01:00:0", 0, "HH:MM:SS"},
	} {
		got, err := ParseClock(tc.in)
		checkParsed(t, tc.reason, tc.in, got, err, tc.want, tc.says)
	}
}

// Every length there is goes through both texts and back.
func TestLengthRoundTrip(t *testing.T) {
	for s := range 100 * 60 * 60 {
		length := Length(time.Duration(s) * time.Second)
		back, err := ParseLength(length.Duration())
		if err != nil || back != length {
			t.Fatalf("%d seconds are written %q and read %v, %v", s, length.Duration(), time.Duration(back), err)
		}
		back, err = ParseClock(length.Clock())
		if err != nil || back != length {
			t.Fatalf("%d seconds are written %q and read %v, %v", s, length.Clock(), time.Duration(back), err)
		}
	}
}

func TestLengthsAsWritten(t *testing.T) {
	for _, tc := range []struct {
		length          time.Duration
		resource, clock string
	}{
		{90 * time.Minute, "1h30m", "01:30:00"},
		{2 * time.Hour, "2h", "02:00:00"},
		{45 * time.Minute, "45m", "00:45:00"},
		{10 * time.Hour, "10h", "10:00:00"},
		{10 * time.Minute, "10m", "00:10:00"},
		{20 * time.Second, "20s", "00:00:20"},
		{time.Hour + time.Second, "1h0m1s", "01:00:01"},
		{0, "unlimited", "unlimited"},
	} {
		l := Length(tc.length)
		if string(l.Duration()) != tc.resource || l.String() != tc.resource || l.Clock() != tc.clock {
			t.Errorf("%s is written %s, %s and %s, want %s and %s", tc.length, l.Duration(), l, l.Clock(), tc.resource, tc.clock)
		}
	}
}

func TestSameLength(t *testing.T) {
	for _, tc := range []struct {
		a, b v1alpha1.Duration
		want bool
	}{
		{"1h30m", "1h30m", true}, {"1h30m", "90m", true}, {"unlimited", "unlimited", true}, {"1h", "2h", false}, {"1h", "unlimited", false},
		{"unlimited", "", false}, {"", "", false}, {"soon", "soon", false},
	} {
		if got := SameLength(tc.a, tc.b); got != tc.want {
			t.Errorf("%q and %q are the same: %t", tc.a, tc.b, got)
		}
	}
}

// The schema takes exactly what ParseLength takes; the rules' pattern is the schema's own.
func FuzzParseLength(f *testing.F) {
	for _, seed := range []string{"", "unlimited", "0s", "99h59m59s", "100h", "1h30m", "1m1h", "-1h", "1.5h", "٣h", "01:30:00", "99999h99999h99999h", "1ms"} {
		f.Add(seed)
	}
	oracle := pattern(f, specField(f, "duration"))
	f.Fuzz(func(t *testing.T, text string) {
		length, err := ParseLength(v1alpha1.Duration(text))
		want := text == "unlimited"
		if oracle.MatchString(text) {
			d, bad := time.ParseDuration(text)
			want = bad == nil && d > 0 && d < 100*time.Hour
		}
		if (err == nil) != want {
			t.Fatalf("ParseLength takes %q: %t; the schema: %t", text, err == nil, want)
		}
		if err == nil && !SameLength(length.Duration(), v1alpha1.Duration(text)) {
			t.Fatalf("%q is written back as %q", text, length.Duration())
		}
	})
}

func FuzzParseClock(f *testing.F) {
	for _, seed := range []string{"", "unlimited", "00:00:00", "99:59:59", "00:60:00", "UnLimited", "1:2:3", "01:00:00Z", "-1:00:00", "٠١:٠٠:٠٠", "01-00-00"} {
		f.Add(seed)
	}
	oracle := regexp.MustCompile(`^[0-9]{2}:[0-5][0-9]:[0-5][0-9]$`)
	f.Fuzz(func(t *testing.T, text string) {
		length, err := ParseClock(text)
		unlimited := strings.EqualFold(text, "unlimited")
		if want := unlimited || (oracle.MatchString(text) && text != "00:00:00"); (err == nil) != want {
			t.Fatalf("ParseClock takes %q: %t, want %t", text, err == nil, want)
		}
		if err == nil && length.Clock() != text && !unlimited {
			t.Fatalf("%q is written back as %q", text, length.Clock())
		}
	})
}

func TestLengthAfter(t *testing.T) {
	start := time.Date(2026, 11, 2, 23, 30, 0, 0, time.UTC)
	if got, want := Length(time.Hour).After(start), start.Add(time.Hour); !got.Equal(want) {
		t.Errorf("an hour after %s is %s", start, got)
	}
	if got := Length(0).After(start); !got.IsZero() {
		t.Errorf("a meeting without limit is over at %s", got)
	}
}
