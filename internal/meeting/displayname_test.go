// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNamesShowSomething(t *testing.T) {
	for name, want := range map[string]bool{
		"Ada": true, "李": true, "👩‍👩‍👧": true, "می\u200cخواهم": true, "!": true, "7": true,
		" ": false, "\u200b": false, "\u202e\u200b\u2066": false, "\u3164": false, "\u2800": false, "\u0301": false, "\ufe0f": false, "\u00ad": false,
	} {
		if err := ValidateName(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestDistinctName(t *testing.T) {
	long := strings.Repeat("ä", MaxNameLength)
	for _, tc := range []struct {
		name   string
		others []string
		want   string
	}{
		{"Ada", nil, "Ada"},
		{"Ada", []string{"Grace"}, "Ada"},
		{"Ada", []string{"Ada"}, "Ada (2)"},
		{"ada", []string{"Ada", "ADA (2)"}, "ada (3)"},
		{"Ａｄａ", []string{"Ada"}, "Ａｄａ (2)"},
		{"Ada  L", []string{"Ada L"}, "Ada  L (2)"},
		{"Zoe\u0308", []string{"Zoë"}, "Zoe\u0308 (2)"},
		{"Ada", []string{"A\u200bda"}, "Ada (2)"},
		{long, []string{long}, long[:2*(MaxNameLength-4)] + " (2)"},
	} {
		got := DistinctName(tc.name, tc.others)
		if got != tc.want || utf8.RuneCountInString(got) > MaxNameLength {
			t.Errorf("%q beside %q: %q, want %q", tc.name, tc.others, got, tc.want)
		}
	}
}
