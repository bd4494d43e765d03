// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
)

// lostAfter is how long a media server must have been unavailable before its meetings with participants move. A restart of
// LiveKit takes seconds, and its participants come back to where they were.
const lostAfter = time.Minute

// Place is a media server on which a meeting may be.
type Place struct {
	Name types.NamespacedName
	// Draining, Unreachable and Full keep new meetings away as long as another place is better.
	Draining, Unreachable, Full bool
	// Retired is a place that the tenant may not use any more. The meetings that are there can still be ended.
	Retired bool
	// Load is how many participants and meetings are there.
	Load int
}

// takesNew says that new meetings may be placed here, and that those without participants stay.
func (p Place) takesNew() bool { return !p.Draining && !p.Unreachable && !p.Retired }

// ChoosePlace finds the place for a new meeting: of those that can be reached the one with the smallest load, and the first of
// equals. Full ones come after all others, and after them those that do not answer: they may in a moment. False means that
// there is none.
func ChoosePlace(places []Place) (types.NamespacedName, bool) {
	rank := func(p Place) int {
		switch {
		case p.Unreachable:
			return 2
		case p.Full:
			return 1
		}
		return 0
	}
	var best *Place
	for i := range places {
		p := &places[i]
		if p.Draining || p.Retired {
			continue
		}
		if best == nil || rank(*p) < rank(*best) || rank(*p) == rank(*best) && p.Load < best.Load {
			best = p
		}
	}
	if best == nil {
		return types.NamespacedName{}, false
	}
	return best.Name, true
}

// PlaceOf is the media server that a Meeting is on, or is to be placed on first. It is empty where neither is known.
func PlaceOf(m *v1alpha1.Meeting) types.NamespacedName {
	if at := m.Status.MediaServer; at != nil {
		return nameOf(at)
	}
	namespace, name, _ := strings.Cut(m.Annotations[v1alpha1.AnnotationMediaServer], "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func nameOf(at *v1alpha1.MediaServerReference) types.NamespacedName {
	return types.NamespacedName{Namespace: at.Namespace, Name: at.Name}
}

// place decides on which media server the Meeting is.
func (p *plan) place() {
	if p.Tenant == nil {
		return
	}
	at := PlaceOf(p.Meeting)
	current, known := p.placeNamed(at)
	switch {
	case known && (IsLeaving(p.Meeting) || !p.mayLeave(current)):
	case known:
		if better, ok := ChoosePlace(p.Tenant.Places); ok && p.isBetter(better) {
			p.event(false, v1alpha1.ReasonMoved, "Moved from media server %s to %s", at, better)
			at = better
		}
	default:
		at, known = ChoosePlace(p.Tenant.Places)
		if !known {
			p.status.MediaServer = nil
			return
		}
	}
	p.status.MediaServer = &v1alpha1.MediaServerReference{Namespace: at.Namespace, Name: at.Name}
}

func (p *plan) placeNamed(name types.NamespacedName) (Place, bool) {
	for _, place := range p.Tenant.Places {
		if place.Name == name {
			return place, true
		}
	}
	return Place{}, false
}

// isBetter says that a place takes new meetings, so that a move there is worth it.
func (p *plan) isBetter(name types.NamespacedName) bool {
	place, _ := p.placeNamed(name)
	return place.takesNew()
}

// mayLeave says that the Meeting may move from a place: no participant is there, or it has been lost.
func (p *plan) mayLeave(from Place) bool {
	switch {
	case from.takesNew():
		return false
	case !p.opened():
		return true
	case p.Seen.Known:
		return len(p.Seen.Participants) == 0
	case p.Seen.UnavailableSince.IsZero():
		return false // It has not been looked at yet.
	case p.status.ParticipantCount == 0:
		return true
	}
	lost := p.Seen.UnavailableSince.Add(lostAfter)
	p.wake(lost)
	return p.due(lost)
}

// placed is the place that the Meeting is on; false when it is on none that its tenant knows.
func (p *plan) placed() (Place, bool) {
	at := p.status.MediaServer
	if p.Tenant == nil || at == nil {
		return Place{}, false
	}
	return p.placeNamed(nameOf(at))
}

// canBeEntered says that the Meeting is on a media server that its tenant may use.
func (p *plan) canBeEntered() bool {
	place, known := p.placed()
	return known && !place.Retired
}
