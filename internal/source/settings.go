// SPDX-License-Identifier: Apache-2.0

// Package source reads the files in which operators of a conferencing service keep their API settings: an environment
// file (.env) in Variant B, a JavaScript module (config.js) in Variant A. It does no I/O.
//
// No error holds any part of a file: what looks like a stray word may be half a secret.
package source

import (
	"maps"
	"slices"
	"time"

	"convene.dev/convene/internal/fault"
)

// field is the field of a ConferenceConfig that every error here is about.
const field = "spec.source"

// Pause is the cause of an Unavailable error: how long until a file is evaluated.
type Pause time.Duration

// Error is for logs.
func (p Pause) Error() string { return "paused for " + time.Duration(p).String() }

// Settings are the API settings that a file holds.
type Settings struct {
	// HasKeySecret tells a secret that is set to nothing from one that is not set.
	HasKeySecret bool   `json:"hasKeySecret,omitempty"`
	KeySecret    string `json:"keySecret,omitempty"`
	// Allowed says which endpoints are on; nil when the file does not say.
	Allowed map[string]bool `json:"allowed,omitzero"`
	// Disabled are the endpoints that are off; nil when the file does not say.
	Disabled []string `json:"disabled,omitzero"`
	// Logins says what people have to log in for.
	Logins Logins `json:"logins,omitzero"`
	// AddressesOnly says that the host answers listed addresses alone.
	AddressesOnly bool `json:"addressesOnly,omitempty"`
	// Lobby reports whether every room has a lobby, where participants wait until a presenter lets them in.
	Lobby bool `json:"lobby,omitempty"`
	// OpenerParticipates reports whether the first to join a room is no presenter, which a switch that cannot be read means, too.
	OpenerParticipates bool `json:"openerParticipates,omitempty"`
	// TokenKey is the secret of tokens that integrations sign themselves; empty when the file does not say.
	TokenKey string `json:"tokenKey,omitempty"`
}

// Logins say what people have to log in for. A switch that cannot be read counts as on.
type Logins struct {
	// ToOpen is for rooms that nobody has opened yet.
	ToOpen bool `json:"toOpen,omitempty"`
	// ToEnter is for every room.
	ToEnter bool `json:"toEnter,omitempty"`
}

// Any reports whether people have to log in at all.
func (l Logins) Any() bool { return l.ToOpen || l.ToEnter }

// Clone returns a copy that shares nothing with s.
func (s Settings) Clone() Settings {
	s.Allowed, s.Disabled = maps.Clone(s.Allowed), slices.Clone(s.Disabled)
	return s
}

// String keeps the secret out of logs.
func (Settings) String() string { return "source.Settings{…}" }

// GoString keeps the secret out of logs.
func (s Settings) GoString() string { return s.String() }

func invalid(format string, args ...any) *fault.Error { return fault.Invalid(field, format, args...) }
