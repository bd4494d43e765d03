// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"encoding/json"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// roomMetadata is what the pages of all participants of a room read.
type roomMetadata struct {
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// Ended is final: the page leaves, to Redirect or to the home page.
	Ended    bool   `json:"ended,omitempty"`
	Redirect string `json:"redirect,omitempty"`
}

func metadataOf(state engine.RoomState) roomMetadata {
	return roomMetadata{ExpiresAt: state.ExpiresAt.UTC()}
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
	return m.ExpiresAt.Equal(other.ExpiresAt) && m.Ended == other.Ended && m.Redirect == other.Redirect
}
