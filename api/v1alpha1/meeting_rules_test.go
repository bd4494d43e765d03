// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

var (
	goodRooms = []any{"x", "Daily Standup", "会議室", "👩‍👩‍👧‍👦", strings.Repeat("é", 128), "...", "a.b", " ", "%2F", "<script>", "room?x=1#y", "\u00a0", "\u200b"}
	badRooms  = []any{"a/b", `a\b`, "/", "a\nb", "a\tb", "a\x00b", "\x7f", "\u0085", "\u009f"}
)

func meetingRules(t *testing.T, c *testkit.Cluster, r *refused) {
	checkRules(t, r, resource(t, c, "Meeting", fullMeeting), creates(t, c), slices.Concat(
		[]rule{
			{"a room and nothing else", "spec", map[string]any{"room": "x"}, ""},
			{"a room by itself", "spec.room", ".", "room must not be . or ..; choose another name"},
			{"the room above", "spec.room", "..", "room must not be . or ..; choose another name"},
			{"no room", "spec.room", absent, "Required value"},
			{"no spec", "spec", absent, "Required value"},
			{"an end without a redirect", "spec.end", map[string]any{}, ""},
			{"an end that leads to the home page", "spec.end.redirect", "", ""},
			{"an empty reference", "spec.configRef", map[string]any{}, "at spec.configRef.name: Required value"},
			{"no participants", "spec.participants", []any{}, ""},
			{"two decisions under one identity", "spec.participants", []any{map[string]any{"identity": "a-1"}, map[string]any{"identity": "a-1"}}, "at spec.participants[]: Duplicate value"},
			{"a username", "spec.participants[].identity", "user:anna.o'neil@example.com", ""},
			{"a username with a line break", "spec.participants[].identity", "user:an\nna", "should match"},
			{"a username of nobody", "spec.participants[].identity", "user:", "should match"},
			{"nothing may be published", "spec.participants[].sources", []any{}, ""},
			{"an identity without a dash", "spec.participants[].identity", "x", ""},
			{"a telephone", "spec.participants[].identity", "sip_+49 151", "should match"},
			{"a telephone number", "spec.participants[].identity", "sip_+49-151.(0)12*31#@example.com;phone-context=x", ""},
			{"an identity that others are hidden in", "spec.participants[].identity", "a-1,b-2", "should match"},
			{"a field that does not exist", "spec.password", "x", "at <nil>: unknown field"},
		},
		list("a room", "spec.room", "", goodRooms...), list("no room", "spec.room", `room must not contain control characters, / or \`, badRooms...),
		lengthRules("spec.duration"), urlRules("spec.redirect"), urlRules("spec.end.redirect"),
		timeRules("spec.unjoinedTimeout"), timeRules("spec.emptyTimeout"),
		list("a moment", "spec.admittedUntil", "", "2026-01-31T17:00:00Z", "2026-01-31T17:00:00.123456789+05:45", "1970-01-01T00:00:00Z"),
		list("a moment that Go does not read", "spec.admittedUntil", "must be a time of RFC 3339, for example 2026-01-31T17:00:00Z", "2026-01-31t17:00:00z", "2026-01-31T17:00:00+99:99",
			"2026-01-31T17:00:00ZTjunk", "2026-01-31T17:00:00x5Z", []int{1}),
		list("a moment before all meetings", "spec.admittedUntil", "must be a time of RFC 3339", "1969-12-31T23:59:59Z"),
		list("a day that is none", "spec.admittedUntil", "must be of type date-time", "2026-02-30T17:00:00Z", "tomorrow", ""),
	))
}

// What the API checks before it writes, and what the schema checks, is the same: else a request that was checked would
// fail at the write, or a Meeting made by hand could do what none made by the API can.
func TestSchemaAndCoreAgree(t *testing.T) {
	for reason, values := range map[string][]any{"good": goodRooms, "bad": slices.Concat(badRooms, []any{".", "..", "", strings.Repeat("x", 129)})} {
		for _, room := range values {
			if err := meeting.ValidateRoom(room.(string)); (err == nil) != (reason == "good") {
				t.Errorf("to the schema the room %q is %s; the core says %v", room, reason, err)
			}
		}
	}
	for reason, values := range map[string][]any{"good": goodURLs, "bad": badURLs} {
		for _, u := range values {
			if err := meeting.ValidateURL("redirect", u.(string)); (err == nil) != (reason == "good") {
				t.Errorf("to the schema the URL %q (%d characters) is %s; the core says %v", u, utf8.RuneCountInString(u.(string)), reason, err)
			}
		}
	}
	for reason, values := range map[string][]any{"good": goodLengths, "bad": slices.Concat(badLengths, clockLengths, zeroLengths, longLengths)} {
		for _, length := range values {
			if _, err := meeting.ParseLength(v1alpha1.Duration(length.(string))); (err == nil) != (reason == "good") {
				t.Errorf("to the schema the length %q is %s; the core says %v", length, reason, err)
			}
		}
	}
}
