// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		" Ada ": "Ada", "Ada\u202eecarG": "AdaecarG", "\u2066Ada\u2069\u200b": "Ada", "\ufeff": "",
		"Ada\nLovelace": "Ada Lovelace", "Ada\x00\t\u0085L": "Ada L", "Ada\u00a0\u2003L": "Ada L", "Zoe\u0308": "Zoë", "a\xff": "a\xff", "Ada\u2800": "Ada", "\u2800Ada\u2800L": "Ada L",
		// What Persian, Hindi, Japanese and emoji need stays.
		"👩‍👩‍👧": "👩‍👩‍👧", "می\u200cخواهم": "می\u200cخواهم", "क्\u200dष": "क्\u200dष", "葛\U000e0100城": "葛\U000e0100城", "❤\ufe0f\u200d🔥": "❤\ufe0f\u200d🔥",
	} {
		if got := CleanName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestRoomsThatLookTheSame are the same, with any character that nothing can be seen of at any place.
func TestRoomsThatLookTheSame(t *testing.T) {
	unseen := []rune{'\u00ad', '\u034f', '\u061c', '\u115f', '\u17b4', '\u180e', '\u200b', zeroWidthNonJoiner, zeroWidthJoiner, '\u200e', '\u202e',
		'\u2060', '\u2066', '\u2069', '\u3164', '\ufe0f', '\ufeff', '\uffa0', '\U000e0041', '\U000e0100'}
	for _, room := range []string{"Weekly", "Ünïcode 7", "Неделя", "Εβδομάδα"} {
		letters := []rune(room)
		for _, r := range unseen {
			for at := range len(letters) + 1 {
				variant := string(letters[:at]) + string(r) + string(letters[at:])
				if got := CleanRoom(variant); got != room {
					t.Errorf("%+q: %q, want %q", variant, got, room)
				}
			}
		}
		for _, variant := range []string{" " + room, room + " ", room + "\u00a0", "\u3000" + room, room + "\n", room + "\u2800", "\u2800" + room, norm.NFD.String(room), strings.ReplaceAll(room, " ", " \u2009 ")} {
			if got := CleanRoom(variant); got != room {
				t.Errorf("%+q: %q, want %q", variant, got, room)
			}
		}
	}
	for _, r := range append(unseen, '\u2800', ' ', '\u00a0', '\u0301') {
		if got := CleanRoom(string(r)); got != "" {
			t.Errorf("%+q is a room: %+q", r, got)
		}
	}
	for _, room := range []string{"a\x00b", "a\x7fb", "a/b", `a\b`, ".", "..", "a\xff", "\x07a"} {
		if err := ValidateRoom(CleanRoom(room)); err == nil {
			t.Errorf("%q is a room", room)
		}
	}
}

// FuzzClean: what is clean stays as it is, is in NFC, and has nothing in it that cannot be seen but what shapes others.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", " a ", "e\u200b\u0301", "می\u200c\u200cخواهم\u200c", "❤\ufe0f\u200d🔥", "\u202e\u2066", "\u0958", "a\xff", "1\ufe0f\u20e3", "\u0301\u200d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, clean := range []func(string) string{CleanRoom, CleanName} {
			got := clean(text)
			if again := clean(got); again != got {
				t.Errorf("%+q is %+q, and then %+q", text, got, again)
			}
			if !utf8.ValidString(text) {
				continue
			}
			if !norm.NFC.IsNormalString(got) || strings.ContainsFunc(got, func(r rune) bool { return isIgnorable(r) && !isSelector(r) || unicode.IsSpace(r) && r != ' ' }) {
				t.Errorf("%+q is %+q", text, got)
			}
		}
	})
}
