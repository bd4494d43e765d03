// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
)

const hour = Length(time.Hour)

func lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func TestResolveSettings(t *testing.T) {
	defaults := Settings{
		UnjoinedTimeout: 24 * time.Hour, EmptyTimeout: 5 * time.Minute, TTLAfterEnded: 5 * time.Minute,
		LinkLifetime: 24 * time.Hour, TicketLifetime: 24 * time.Hour, MaxParticipants: 300, MaxMeetings: 10_000, AdHoc: v1alpha1.AdHocNever, MaxAdHoc: 100,
	}
	but := func(change func(*Settings)) Settings {
		s := defaults
		change(&s)
		return s
	}
	for _, tc := range []struct {
		reason string
		spec   *v1alpha1.MeetingsSpec
		want   Settings
	}{
		{"no rules at all", nil, defaults},
		{"rules that set nothing", &v1alpha1.MeetingsSpec{}, defaults},
		{"a default length", &v1alpha1.MeetingsSpec{DefaultDuration: "1h"}, but(func(s *Settings) { s.DefaultLength = hour })},
		{"the greatest length is the default where none is named", &v1alpha1.MeetingsSpec{MaxDuration: "1h"},
			but(func(s *Settings) { s.DefaultLength, s.MaxLength = hour, hour })},
		{"with a greatest length, unlimited means it", &v1alpha1.MeetingsSpec{DefaultDuration: "unlimited", MaxDuration: "1h"},
			but(func(s *Settings) { s.DefaultLength, s.MaxLength = hour, hour })},
		{"a default equal to the greatest", &v1alpha1.MeetingsSpec{DefaultDuration: "1h", MaxDuration: "1h"},
			but(func(s *Settings) { s.DefaultLength, s.MaxLength = hour, hour })},
		{"an unlimited greatest length is none", &v1alpha1.MeetingsSpec{DefaultDuration: "99h", MaxDuration: "unlimited"},
			but(func(s *Settings) { s.DefaultLength = 99 * hour })},
		{"nothing is kept after the end", &v1alpha1.MeetingsSpec{TTLSecondsAfterEnded: ptr.To(int32(0))}, but(func(s *Settings) { s.TTLAfterEnded = 0 })},
		{"everything else", &v1alpha1.MeetingsSpec{
			UnjoinedTimeout: lasting(time.Minute), EmptyTimeout: lasting(time.Second), LinkLifetime: lasting(time.Hour),
			TTLSecondsAfterEnded: ptr.To(int32(7)), MaxParticipants: ptr.To(int32(3)), MaxMeetings: ptr.To(int32(7)), AllowedRedirectHosts: []string{"a", "*.b"},
		}, Settings{
			UnjoinedTimeout: time.Minute, EmptyTimeout: time.Second, LinkLifetime: time.Hour, TTLAfterEnded: 7 * time.Second,
			MaxParticipants: 3, RedirectHosts: []string{"a", "*.b"}, TicketLifetime: time.Hour, MaxMeetings: 7, AdHoc: v1alpha1.AdHocNever, MaxAdHoc: 100,
		}},
		{"more participants than a meeting can have, as stored before there was a limit", &v1alpha1.MeetingsSpec{MaxParticipants: ptr.To(int32(5000))},
			but(func(s *Settings) { s.MaxParticipants = 1000 })},
		{"people may open rooms", &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocAnyone, MaxAdHocRooms: ptr.To(int32(5))},
			but(func(s *Settings) {
				s.AdHoc, s.MaxAdHoc, s.ForgetEnded, s.TicketLifetime = v1alpha1.AdHocAnyone, 5, true, 720*time.Hour
			})},
		{"tickets open rooms, and ended meetings are kept", &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocTickets, LinkLifetime: lasting(time.Hour)},
			but(func(s *Settings) {
				s.AdHoc, s.LinkLifetime, s.TicketLifetime = v1alpha1.AdHocTickets, time.Hour, 720*time.Hour
			})},
		{"links are kept longer than tickets", &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocTickets, LinkLifetime: lasting(1000 * time.Hour)},
			but(func(s *Settings) {
				s.AdHoc, s.LinkLifetime, s.TicketLifetime = v1alpha1.AdHocTickets, 1000*time.Hour, 1000*time.Hour
			})},
		{"tickets of their own length", &v1alpha1.MeetingsSpec{TicketLifetime: lasting(9600 * time.Hour)},
			but(func(s *Settings) { s.TicketLifetime = 9600 * time.Hour })},
	} {
		got, err := ResolveSettings(tc.spec)
		if err != nil {
			t.Errorf("%s: %v", tc.reason, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
	if diff := cmp.Diff(defaults, DefaultSettings()); diff != "" {
		t.Errorf("the defaults (-want +got):\n%s", diff)
	}
}

func TestResolveSettingsNamesWhatContradicts(t *testing.T) {
	for _, tc := range []struct {
		reason string
		spec   v1alpha1.MeetingsSpec
		says   string
	}{
		{"a default over the greatest", v1alpha1.MeetingsSpec{DefaultDuration: "2h", MaxDuration: "1h"},
			"meetings.defaultDuration must not be over meetings.maxDuration"},
		{"a greatest length that the schema would refuse", v1alpha1.MeetingsSpec{MaxDuration: "01:00:00"}, "for example 1h30m"},
		{"a default length that the schema would refuse", v1alpha1.MeetingsSpec{DefaultDuration: "01:00:00"}, "for example 1h30m"},
		{"no time to come", v1alpha1.MeetingsSpec{UnjoinedTimeout: lasting(0)}, "meetings.unjoinedTimeout must be more than zero"},
		{"no time to come back", v1alpha1.MeetingsSpec{EmptyTimeout: lasting(-time.Second)}, "meetings.emptyTimeout must be more than zero"},
		{"tickets that never work", v1alpha1.MeetingsSpec{TicketLifetime: lasting(0)}, "meetings.ticketLifetime must be more than zero"},
		{"links that never work", v1alpha1.MeetingsSpec{LinkLifetime: lasting(0)}, "meetings.linkLifetime must be more than zero"},
	} {
		_, err := ResolveSettings(&tc.spec)
		if err == nil || !strings.Contains(err.Error(), tc.says) || !fault.Is(err, fault.KindInvalid) {
			t.Errorf("%s: %v does not say %q", tc.reason, err, tc.says)
		}
	}
}

func TestLengthInForce(t *testing.T) {
	limited := Settings{DefaultLength: hour / 2, MaxLength: hour}
	free := Settings{DefaultLength: hour / 2}
	for _, tc := range []struct {
		reason   string
		settings Settings
		asked    v1alpha1.Duration
		want     Length
		says     string
	}{
		{"nothing asked is the default", limited, "", hour / 2, ""},
		{"less than the greatest", limited, "45m", hour * 3 / 4, ""},
		{"the greatest itself", limited, "1h", hour, ""},
		{"unlimited means the greatest", limited, "unlimited", hour, ""},
		{"more than the greatest", limited, "1h1s", 0, "duration must be at most 01:00:00 here; ask for less"},
		{"no length at all", limited, "soon", 0, "for example 1h30m"},
		{"without a greatest, unlimited is without limit", free, "unlimited", 0, ""},
		{"without a greatest, the longest", free, "99h59m59s", 100*hour - Length(time.Second), ""},
	} {
		got, err := tc.settings.Length(tc.asked)
		if tc.says != "" {
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v does not say %q", tc.reason, err, tc.says)
			}
			continue
		}
		if err != nil || got != tc.want {
			t.Errorf("%s: %s, %v; want %s", tc.reason, got, err, tc.want)
		}
	}
}
