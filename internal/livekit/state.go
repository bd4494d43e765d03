// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"encoding/json"
	"maps"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// roomMetadata is what the pages of all participants of a room read.
type roomMetadata struct {
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// Policy names what presenters alone may do.
	Policy map[string]string `json:"policy,omitempty"`
	Locked bool              `json:"locked,omitempty"`
	// Admission is what new participants wait for.
	Admission string `json:"admission,omitempty"`
	// Open is for a waiting room: those who wait may come in.
	Open bool `json:"open,omitempty"`
	// Ended is final: the page leaves, to Redirect or to the home page.
	Ended    bool   `json:"ended,omitempty"`
	Redirect string `json:"redirect,omitempty"`
}

const presenters = "Presenters"

// maxAdmission is longer than what Admission may be, in bytes. What others write there is not kept: it may be as long as a room's metadata.
const maxAdmission = 16

func metadataOf(state engine.RoomState) roomMetadata {
	m := roomMetadata{ExpiresAt: state.ExpiresAt.UTC(), Locked: state.Locked, Admission: state.Admission, Open: state.Open}
	for _, name := range state.PresentersOnly.Names() {
		if m.Policy == nil {
			m.Policy = map[string]string{}
		}
		m.Policy[name] = presenters
	}
	return m
}

// state is what metadataOf made it of.
func (m roomMetadata) state() engine.RoomState {
	s := engine.RoomState{ExpiresAt: m.ExpiresAt, Locked: m.Locked, Open: m.Open}
	if len(m.Admission) <= maxAdmission {
		s.Admission = m.Admission
	}
	for _, a := range engine.AllAbilities() {
		if m.Policy[a.Name] == presenters {
			s.PresentersOnly |= a.Abilities
		}
	}
	return s
}

func (m roomMetadata) encode() (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", fault.As(err)
	}
	return string(b), nil
}

// decodeMetadata reads a room's metadata; ok is false where it is not ours, as that of a room which a late join made.
func decodeMetadata(s string) (_ roomMetadata, ok bool) {
	var m roomMetadata
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		return roomMetadata{}, false
	}
	return m, true
}

func (m roomMetadata) equal(other roomMetadata) bool {
	return m.ExpiresAt.Equal(other.ExpiresAt) && maps.Equal(m.Policy, other.Policy) && m.Locked == other.Locked &&
		m.Admission == other.Admission && m.Open == other.Open && m.Ended == other.Ended && m.Redirect == other.Redirect
}
