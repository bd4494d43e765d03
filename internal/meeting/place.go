// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		return nameOf(*at)
	}
	namespace, name, _ := strings.Cut(m.Annotations[v1alpha1.AnnotationMediaServer], "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func nameOf(at v1alpha1.MediaServerReference) types.NamespacedName {
	return types.NamespacedName{Namespace: at.Namespace, Name: at.Name}
}

func referenceTo(name types.NamespacedName) *v1alpha1.MediaServerReference {
	return &v1alpha1.MediaServerReference{Namespace: name.Namespace, Name: name.Name}
}

// place decides on which media server a Meeting is that goes on.
func (p *plan) place() {
	if p.Tenant == nil {
		return
	}
	at := PlaceOf(p.Meeting)
	current, known := p.placeNamed(at)
	// What only an annotation names is no place unless the tenant has it: whoever may write Meetings may name any media server there.
	if !known && p.Meeting.Status.MediaServer != nil && p.opened() {
		current, known = p.unknownPlace(at), true
	}
	if known {
		if better, ok := p.betterPlace(current); ok {
			p.move(at, better)
			at = better
		}
	} else {
		at, known = ChoosePlace(p.Tenant.Places)
	}
	p.status.MediaServer = nil
	if known {
		p.status.MediaServer = referenceTo(at)
	}
}

// stay keeps a Meeting that ends where it is, also where that is what it was made with: there its room is closed.
func (p *plan) stay() {
	if at := PlaceOf(p.Meeting); p.Tenant != nil {
		if _, known := p.placeNamed(at); known {
			p.status.MediaServer = referenceTo(at)
		}
	}
}

// unknownPlace is a place that the tenant does not have: any more, or before its Secret can be read. It counts as one that has not answered
// since the Meeting has not been Ready.
func (p *plan) unknownPlace(name types.NamespacedName) Place {
	since := ceilSecond(p.Now)
	if c := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionReady); c != nil && c.Status == metav1.ConditionFalse {
		since = c.LastTransitionTime.Time
	}
	p.Seen = Seen{UnavailableSince: since, SilentSince: since}
	return Place{Name: name, Retired: true}
}

func (p *plan) placeNamed(name types.NamespacedName) (Place, bool) {
	for _, place := range p.Tenant.Places {
		if place.Name == name {
			return place, true
		}
	}
	return Place{}, false
}

// betterPlace is where the Meeting should be instead: where its participants are, or, where it may leave its place, one that takes new
// meetings.
func (p *plan) betterPlace(from Place) (types.NamespacedName, bool) {
	back, occupied := p.occupiedBefore()
	if occupied && p.isVacant() {
		return back, true
	}
	if !p.mayLeave(from) {
		return types.NamespacedName{}, false
	}
	if occupied {
		return back, true
	}
	better, ok := ChoosePlace(p.Tenant.Places)
	place, _ := p.placeNamed(better)
	return better, ok && place.takesNew()
}

// isVacant reports whether the place of the Meeting shows that no participant is in.
func (p *plan) isVacant() bool { return p.Seen.Known && len(p.Seen.Participants) == 0 }

// mayLeave says that the Meeting may move from a place: no participant is there, or it has been lost.
func (p *plan) mayLeave(from Place) bool {
	switch {
	case from.takesNew():
		return false
	case !p.opened():
		return true
	case p.Seen.Known:
		return p.isVacant()
	case p.Seen.UnavailableSince.IsZero():
		return false // It has not been looked at yet.
	case p.status.ParticipantCount == 0:
		return true
	case p.Seen.SilentSince.IsZero():
		return false // It refuses our key, and its participants talk.
	}
	lost := p.Seen.SilentSince.Add(lostAfter)
	if !p.due(lost) {
		p.wake(lost)
	}
	return p.due(lost)
}

// placed is the place that the Meeting is on; false when it is on none that its tenant knows.
func (p *plan) placed() (Place, bool) {
	at := p.status.MediaServer
	if p.Tenant == nil || at == nil {
		return Place{}, false
	}
	return p.placeNamed(nameOf(*at))
}

// canBeEntered says that the Meeting is on a media server that its tenant may use.
func (p *plan) canBeEntered() bool {
	place, known := p.placed()
	return known && !place.Retired
}
