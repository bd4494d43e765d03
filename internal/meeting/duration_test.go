// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
)

func TestParseLength(t *testing.T) {
	for _, tc := range []struct {
		reason string
		in     v1alpha1.Duration
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
		{"another case", "Unlimited", 0, "unlimited"},
		{"a Go duration", "1h30m", 0, "HH:MM:SS"},
		{"a line end", "01:00:00\n", 0, "HH:MM:SS"},
		{"space", " 01:00:0", 0, "HH:MM:SS"},
	} {
		got, err := ParseLength(tc.in)
		switch {
		case tc.says == "" && (err != nil || got != Length(tc.want)):
			t.Errorf("%s: %q is %v, %v; want %v", tc.reason, tc.in, time.Duration(got), err, tc.want)
		case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
			t.Errorf("%s: %q: %v does not say %q", tc.reason, tc.in, err, tc.says)
		case err != nil && (!fault.Is(err, fault.KindInvalid) || fault.As(err).Field != "duration"):
			t.Errorf("%s: %#v is not about the field duration", tc.reason, err)
		}
	}
}

// Every length there is goes through text and back.
func TestLengthRoundTrip(t *testing.T) {
	for s := range 100 * 60 * 60 {
		length := Length(time.Duration(s) * time.Second)
		back, err := ParseLength(length.API())
		if err != nil || back != length {
			t.Fatalf("%d seconds are written %q and read %v, %v", s, length, time.Duration(back), err)
		}
	}
}

func FuzzParseLength(f *testing.F) {
	for _, seed := range []string{"", "unlimited", "00:00:00", "99:59:59", "00:60:00", "1:2:3", "01:00:00Z", "-1:00:00", "٠١:٠٠:٠٠", "01-00-00"} {
		f.Add(seed)
	}
	oracle := pattern(f, specField(f, "duration"))
	f.Fuzz(func(t *testing.T, text string) {
		length, err := ParseLength(v1alpha1.Duration(text))
		if want := text == "unlimited" || (oracle.MatchString(text) && text != "00:00:00"); (err == nil) != want {
			t.Fatalf("ParseLength takes %q: %t; the schema: %t", text, err == nil, want)
		}
		if err == nil && length.String() != text {
			t.Fatalf("%q is written back as %q", text, length)
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
