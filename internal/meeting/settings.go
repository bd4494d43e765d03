// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"cmp"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/hostname"
)

// Settings are a tenant's rules for its meetings, with every default resolved.
type Settings struct {
	DefaultLength Length
	// MaxLength is the greatest length; zero is without limit.
	MaxLength       Length
	UnjoinedTimeout time.Duration
	EmptyTimeout    time.Duration
	// TTLAfterEnded keeps the object of an ended meeting.
	TTLAfterEnded time.Duration
	LinkLifetime  time.Duration
	// TicketLifetime is how long join links work.
	TicketLifetime  time.Duration
	MaxParticipants int
	// RedirectHosts are exact or *.suffix; none means any.
	RedirectHosts []string
	// MaxMeetings is how many meetings may be live at once.
	MaxMeetings int
	// AdHoc is who may open a room that has no meeting, and MaxAdHoc how many such rooms may be live at once.
	AdHoc    v1alpha1.AdHoc
	MaxAdHoc int
	// Policy, Locked and Admission are for Meetings that do not say so themselves. A nil policy says nothing, and an empty
	// admission is open.
	Policy    *v1alpha1.MeetingPolicy
	Locked    bool
	Admission v1alpha1.Admission
	// ForgetEnded says that ended meetings need not be kept for their links, which open their rooms without them.
	ForgetEnded bool
	// OpenerLeads reports whether participants who open rooms lead them. Nothing that is decided in such a room holds in its next Meeting.
	OpenerLeads bool
}

// DefaultSettings are the rules of a tenant that sets none.
func DefaultSettings() Settings {
	return Settings{
		UnjoinedTimeout: 24 * time.Hour,
		EmptyTimeout:    5 * time.Minute,
		TTLAfterEnded:   300 * time.Second,
		LinkLifetime:    24 * time.Hour,
		TicketLifetime:  24 * time.Hour,
		MaxParticipants: 300,
		AdHoc:           v1alpha1.AdHocNever,
		MaxMeetings:     10_000,
		MaxAdHoc:        100,
	}
}

// oldTickets is how long tickets work where they open their rooms themselves.
const oldTickets = 30 * 24 * time.Hour

// ResolveSettings reads spec.meetings over the defaults. An error names what contradicts; the schema has checked
// each value alone.
func ResolveSettings(spec *v1alpha1.MeetingsSpec) (Settings, error) {
	s := DefaultSettings()
	if spec == nil {
		return s, nil
	}
	var err error
	if spec.MaxDuration != "" {
		if s.MaxLength, err = ParseLength(spec.MaxDuration); err != nil {
			return s, err
		}
	}
	s.DefaultLength = s.MaxLength
	if spec.DefaultDuration != "" {
		length, err := ParseLength(spec.DefaultDuration)
		if err != nil {
			return s, err
		}
		if s.DefaultLength, err = s.Limit(length); err != nil {
			return s, fault.Invalid("meetings.defaultDuration",
				"meetings.defaultDuration must not be over meetings.maxDuration; lower one or raise the other")
		}
	}
	var ticketLifetime time.Duration
	for _, d := range []struct {
		field string
		spec  *metav1.Duration
		to    *time.Duration
	}{
		{"unjoinedTimeout", spec.UnjoinedTimeout, &s.UnjoinedTimeout},
		{"emptyTimeout", spec.EmptyTimeout, &s.EmptyTimeout},
		{"linkLifetime", spec.LinkLifetime, &s.LinkLifetime},
		{"ticketLifetime", spec.TicketLifetime, &ticketLifetime},
	} {
		if d.spec == nil {
			continue
		}
		if d.spec.Duration <= 0 {
			return s, fault.Invalid("meetings."+d.field, "meetings.%s must be more than zero, for example 5m", d.field)
		}
		*d.to = d.spec.Duration
	}
	if spec.TTLSecondsAfterEnded != nil {
		s.TTLAfterEnded = time.Duration(*spec.TTLSecondsAfterEnded) * time.Second
	}
	s.MaxParticipants = min(int(ptr.Deref(spec.MaxParticipants, int32(s.MaxParticipants))), v1alpha1.MaxParticipants)
	s.MaxMeetings = int(ptr.Deref(spec.MaxMeetings, int32(s.MaxMeetings)))
	s.RedirectHosts = spec.AllowedRedirectHosts
	s.Policy, s.Locked, s.Admission = spec.Policy, spec.Locked, spec.Admission
	s.resolveAdHoc(spec, ticketLifetime)
	return s, nil
}

func (s *Settings) resolveAdHoc(spec *v1alpha1.MeetingsSpec, ticketLifetime time.Duration) {
	s.AdHoc = cmp.Or(spec.AdHoc, v1alpha1.AdHocNever)
	s.MaxAdHoc = int(ptr.Deref(spec.MaxAdHocRooms, int32(s.MaxAdHoc)))
	s.TicketLifetime = s.LinkLifetime
	if s.AdHoc != v1alpha1.AdHocNever {
		s.TicketLifetime = max(s.LinkLifetime, oldTickets)
		s.ForgetEnded = spec.LinkLifetime == nil
	}
	if ticketLifetime != 0 {
		s.TicketLifetime = ticketLifetime
	}
}

// Length is the length in force for what a Meeting asks; empty means the default.
func (s Settings) Length(asked v1alpha1.Duration) (Length, error) {
	if asked == "" {
		return s.DefaultLength, nil
	}
	length, err := ParseLength(asked)
	if err != nil {
		return 0, err
	}
	return s.Limit(length)
}

// ValidateDuration checks the duration that a request asks for. Empty is the tenant's default.
func (s Settings) ValidateDuration(asked v1alpha1.Duration) error {
	_, err := s.Length(asked)
	return err
}

// ValidateChange checks the duration and the redirect that a request has written into the spec of a Meeting.
func (s Settings) ValidateChange(was, is *v1alpha1.MeetingSpec) (err error) {
	if is.Duration != was.Duration {
		err = s.ValidateDuration(is.Duration)
	}
	if err == nil && is.Redirect != was.Redirect {
		err = s.ValidateRedirect(string(is.Redirect))
	}
	return err
}

// Limit holds a length against the greatest: with one, unlimited means it, and more is refused. Callers of the REST API read
// the refusal.
func (s Settings) Limit(length Length) (Length, error) {
	switch {
	case s.MaxLength == 0:
		return length, nil
	case length == 0:
		return s.MaxLength, nil
	case length > s.MaxLength:
		return 0, fault.Invalid("duration", "duration must be at most %s here; ask for less", s.MaxLength.Clock())
	}
	return length, nil
}

const maxURLLength = 2048

// ValidateURL checks an absolute http or https URL of at most 2,048 characters. Empty is fine.
func ValidateURL(field, value string) error {
	if value == "" {
		return nil
	}
	if utf8.RuneCountInString(value) > maxURLLength {
		return fault.Invalid(field, "%s must have at most %d characters", field, maxURLLength)
	}
	if parseURL(value) == nil {
		return fault.Invalid(field, "%s must be an absolute http or https URL, for example https://example.com/page", field)
	}
	return nil
}

// parseURL reads an absolute http or https URL as the schema's isURL does, or gives nil. As in the URL standard a host ends at the
// fragment, too; url.ParseRequestURI would take a fragment for a part of it.
func parseURL(value string) *url.URL {
	before, _, _ := strings.Cut(value, "#")
	u, err := url.ParseRequestURI(before)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || strings.ContainsFunc(value, isASCIIControl) {
		return nil
	}
	return u
}

func isASCIIControl(r rune) bool { return r < ' ' || r == 0x7f }

// maxAvatarBytes holds a URL of the greatest length in ASCII twice. One of many characters outside ASCII can be longer, and
// would make links that browsers and proxies cut off.
const maxAvatarBytes = 2 * maxURLLength

// readAvatar reads the URL of a participant's image, which only the browsers of a room fetch. Many programs leave out the scheme of such a
// URL, as in "//example.com/ada.png": it is https. Empty is none.
func readAvatar(value v1alpha1.URL) (v1alpha1.URL, error) {
	if strings.HasPrefix(string(value), "//") {
		value = "https:" + value
	}
	if err := ValidateURL("avatar", string(value)); err != nil {
		return "", err
	}
	if len(value) > maxAvatarBytes {
		return "", fault.Invalid("avatar", "avatar must be at most %d bytes long; shorten the URL", maxAvatarBytes)
	}
	return value, nil
}

// ValidateRedirect checks where people may be sent: a URL, on one of the tenant's hosts where it names some.
func (s Settings) ValidateRedirect(value string) error {
	if err := ValidateURL("redirect", value); err != nil || value == "" || len(s.RedirectHosts) == 0 {
		return err
	}
	u := parseURL(value)
	if hostname.IsOn(s.RedirectHosts, u) {
		return nil
	}
	return fault.Invalid("redirect", "redirect must lead to one of the hosts that the operator allows; ask the operator to add %q", u.Hostname())
}

// IsOn reports whether a URL leads to one of some hosts, as hostname.IsOn does. A text that is no URL leads to none.
func IsOn(hosts []string, value string) bool {
	u := parseURL(value)
	return u != nil && hostname.IsOn(hosts, u)
}

// ParticipantLimit is the greatest number of participants in a Meeting that asks for a limit of its own, or for none.
func (s Settings) ParticipantLimit(own *int32) int {
	if own == nil {
		return s.MaxParticipants
	}
	return min(s.MaxParticipants, int(*own))
}
