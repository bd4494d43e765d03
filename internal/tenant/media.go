// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// tagBytes are enough to tell the few media servers of a tenant apart.
const tagBytes = 8

// Media is a media server as a tenant uses it.
type Media struct {
	// Name is that of the MediaServer.
	Name types.NamespacedName
	// Server is where our calls go.
	Server engine.Server
	// Engine is shared by all with the same Server.
	Engine engine.Engine
	// Draining keeps new meetings away.
	Draining bool
	// MaxParticipants is from how many on the media server counts as full; zero is never.
	MaxParticipants int
	// Retired says that the tenant may not use it any more. The meetings that are on it have still to be ended.
	Retired bool
	// unreachable is shared by all with the same Name: it changes more often than a Tenant.
	unreachable *atomic.Bool
}

// Tag is what names of rooms have of the media server's own, which may be too long for them.
func (m *Media) Tag() string {
	sum := sha256.Sum256([]byte(m.Name.String()))
	return hex.EncodeToString(sum[:tagBytes])
}

// MediaTagged finds the media server with a tag. Nil means that there is none.
func (t *Tenant) MediaTagged(tag string) *Media {
	for _, m := range t.Media {
		if m.Tag() == tag {
			return m
		}
	}
	return nil
}

// IsUnreachable says that the controllers do not reach the media server, as its status has it.
func (m *Media) IsUnreachable() bool { return m.unreachable != nil && m.unreachable.Load() }

// HasMedia says that the tenant has a media server that it may use.
func (t *Tenant) HasMedia() bool {
	for _, m := range t.Media {
		if !m.Retired {
			return true
		}
	}
	return false
}

// MediaAt finds the media server that a meeting is on. An empty name, of a meeting that has not been placed yet, stands for the
// only one that takes new meetings. Nil means that there is none.
func (t *Tenant) MediaAt(name types.NamespacedName) *Media {
	for _, m := range t.Media {
		if m.Name == name {
			return m
		}
	}
	if name != (types.NamespacedName{}) {
		return nil
	}
	var only *Media
	for _, m := range t.Media {
		switch {
		case m.Retired || m.Draining:
		case only != nil:
			return nil
		default:
			only = m
		}
	}
	return only
}

// UsesServer says that meetings of the tenant may be on a media server.
func (t *Tenant) UsesServer(at engine.Server) bool {
	for _, m := range t.Media {
		if m.Server == at {
			return true
		}
	}
	return false
}

// Places are the media servers as a meeting's place is chosen from them. Load says how many participants and meetings are on
// one, unreachable whether it answers.
func (t *Tenant) Places(load func(types.NamespacedName) int, unreachable func(*Media) bool) []meeting.Place {
	places := make([]meeting.Place, 0, len(t.Media))
	for _, m := range t.Media {
		place := meeting.Place{Name: m.Name, Draining: m.Draining, Unreachable: unreachable(m), Retired: m.Retired}
		if len(t.Media) > 1 { // Of one there is nothing to compare.
			place.Load = load(m.Name)
			place.Full = m.MaxParticipants > 0 && place.Load >= m.MaxParticipants
		}
		places = append(places, place)
	}
	return places
}
