// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"convene.dev/convene/internal/fault"
)

func TestValidateRoom(t *testing.T) {
	for _, tc := range []struct {
		reason, room string
		// says is part of the message; empty where the name is good.
		says string
	}{
		{"a plain name", "daily-standup", ""},
		{"one character", "x", ""},
		{"spaces and signs", "Tom & Anna's 1:1 (weekly)?", ""},
		{"any script", "会議室 Ω жираф", ""},
		{"joined characters", "👩‍👩‍👧‍👦", ""},
		{"the greatest length, in characters and not in bytes", strings.Repeat("é", 128), ""},
		{"dots are fine where they are not alone", "...", ""},
		{"percent signs are only percent signs", "%2F%00", ""},
		{"no name", "", "room is required; give it 1 to 128 characters"},
		{"too long", strings.Repeat("é", 129), "at most 128 characters"},
		{"a slash would be another path", "a/b", `must not contain / or \`},
		{"a backslash is a slash to browsers", `a\b`, `must not contain / or \`},
		{"a dot is this folder", ".", "must not be . or .."},
		{"two dots are the folder above", "..", "must not be . or .."},
		{"a line break", "a\nb", "control characters"},
		{"NUL", "a\x00", "control characters"},
		{"DEL", "a\x7f", "control characters"},
		{"a control character beyond ASCII", "a\u0085", "control characters"},
		{"no Unicode at all", "a\xff", "valid UTF-8"},
	} {
		err := ValidateRoom(tc.room)
		switch {
		case tc.says == "" && err != nil:
			t.Errorf("%s: %q is refused: %v", tc.reason, tc.room, err)
		case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
			t.Errorf("%s: %q: %v does not say %q", tc.reason, tc.room, err, tc.says)
		case err != nil && (!fault.Is(err, fault.KindInvalid) || fault.As(err).Field != "room"):
			t.Errorf("%s: %#v is not about the field room", tc.reason, err)
		}
	}
}

func TestValidateNameAllowsWhatARoomCannot(t *testing.T) {
	for _, name := range []string{"a/b", `a\b`, ".", ".."} {
		if err := ValidateName(name); err != nil {
			t.Errorf("%q is a person's name: %v", name, err)
		}
	}
	for _, name := range []string{"", "a\tb", strings.Repeat("x", 129)} {
		if err := ValidateName(name); err == nil || fault.As(err).Field != "name" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// schemaTakes says what the schema says of a room. Only UTF-8 reaches it.
func schemaTakes(t testing.TB) func(room string) bool {
	field := specField(t, "room")
	characters := pattern(t, field)
	return func(room string) bool {
		n := int64(utf8.RuneCountInString(room))
		return n >= *field.MinLength && n <= *field.MaxLength && characters.MatchString(room) && room != "." && room != ".."
	}
}

func FuzzValidateRoom(f *testing.F) {
	for _, seed := range []string{"", ".", "..", "a/b", `\`, "\x7f", "\u009f", "\u00a0", strings.Repeat("ß", 128), strings.Repeat("ß", 129), "\xff"} {
		f.Add(seed)
	}
	takes := schemaTakes(f)
	f.Fuzz(func(t *testing.T, room string) {
		got := ValidateRoom(room) == nil
		if want := utf8.ValidString(room) && takes(room); got != want {
			t.Errorf("ValidateRoom takes %q: %t; the schema: %t", room, got, want)
		}
	})
}

var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`) // RFC 1123, section 2.1

func TestObjectNameReadsLikeTheRoom(t *testing.T) {
	for _, tc := range []struct{ room, begins string }{
		{"Daily Standup", "daily-standup-"},
		{"  -- x --  ", "x-"},
		{"会議室", "room-"},
		{"...", "room-"},
		{"ÀÉ plan B", "plan-b-"},
		{"2026/11", "2026-11-"},
		{strings.Repeat("a", 128), strings.Repeat("a", slugLength) + "-"},
	} {
		name := objectName("default", tc.room)
		if !strings.HasPrefix(name, tc.begins) || len(name) != len(tc.begins)+hashLength {
			t.Errorf("the object of %q is %q, which does not begin with %q and a hash", tc.room, name, tc.begins)
		}
		if !label.MatchString(name) {
			t.Errorf("the object of %q is %q: no RFC 1123 label", tc.room, name)
		}
		if again := objectName("default", tc.room); again != name {
			t.Errorf("the object of %q is %q, and then %q", tc.room, name, again)
		}
	}
}

// A name that looks like one of ours must not be one: the room "x-<hash>" is not the object of the room "x".
func TestObjectNameIsNeverTheRoomItself(t *testing.T) {
	name := objectName("default", "x")
	for range 3 {
		next := objectName("default", name)
		if next == name {
			t.Fatalf("the object of %q has the name of its own room", name)
		}
		name = next
	}
}

func FuzzObjectName(f *testing.F) {
	f.Add("default", "room", "defaultroom", "")
	f.Add("a", "b-c", "a-b", "c")
	f.Add("a", "\x00b", "a\x00", "b")
	f.Fuzz(func(t *testing.T, config1, room1, config2, room2 string) {
		a, b := objectName(config1, room1), objectName(config2, room2)
		if !label.MatchString(a) || !label.MatchString(b) {
			t.Errorf("%q or %q is no RFC 1123 label", a, b)
		}
		if same := config1 == config2 && room1 == room2; (a == b) != same {
			t.Errorf("%q/%q is %q and %q/%q is %q", config1, room1, a, config2, room2, b)
		}
	})
}
