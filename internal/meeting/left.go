// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
)

// A Meeting can leave a media server that does not answer the leader, and that still answers the browsers: participants go on there.
// Until that media server answers the leader, nothing may follow from an empty room at the new place.

const (
	// leftFor is how long a Meeting remembers a media server that it left, where that media server never answers.
	leftFor = 24 * time.Hour
	// maxLeft is how many the schema takes.
	maxLeft = 64
)

// LeftPlaces are the media servers that a Meeting left, and where participants may still be.
func LeftPlaces(m *v1alpha1.Meeting) (names []types.NamespacedName) {
	for _, l := range m.Status.LeftMediaServers {
		names = append(names, nameOf(l.MediaServerReference))
	}
	return names
}

// move moves the Meeting to another media server.
func (p *plan) move(from, to types.NamespacedName) {
	p.dropLeft(func(l v1alpha1.LeftMediaServer) bool { return nameOf(l.MediaServerReference) == to })
	if p.opened() && !p.isVacant() {
		p.event(true, v1alpha1.ReasonMoved, "Moved from media server %s (unreachable, its participants are unknown) to %s", from, to)
		p.status.LeftMediaServers = append(p.status.LeftMediaServers, v1alpha1.LeftMediaServer{
			MediaServerReference: *referenceTo(from), LeftTime: metav1.NewTime(ceilSecond(p.Now)),
		})
		p.status.LeftMediaServers = p.status.LeftMediaServers[max(0, len(p.status.LeftMediaServers)-maxLeft):]
	} else {
		p.event(false, v1alpha1.ReasonMoved, "Moved from media server %s to %s", from, to)
		p.NeedsFreshLook = p.opened()
	}
	p.Seen = Seen{} // It is of the place that the Meeting has left.
}

// forgetLeft forgets the media servers that have answered that the room is gone, and those that have not answered for too long.
func (p *plan) forgetLeft() {
	p.dropLeft(func(l v1alpha1.LeftMediaServer) bool {
		seen, forgotten := p.Left[nameOf(l.MediaServerReference)], l.LeftTime.Add(leftFor)
		if seen.Known {
			return !seen.RoomExists
		}
		if !p.due(forgotten) {
			p.wake(forgotten)
		}
		return p.due(forgotten)
	})
}

func (p *plan) dropLeft(drop func(v1alpha1.LeftMediaServer) bool) {
	if p.status.LeftMediaServers = slices.DeleteFunc(p.status.LeftMediaServers, drop); len(p.status.LeftMediaServers) == 0 {
		p.status.LeftMediaServers = nil
	}
}

// leftAway are the media servers, of those that the Meeting left, that do not answer.
func (p *plan) leftAway() (away []Seen) {
	for _, l := range p.status.LeftMediaServers {
		if seen := p.Left[nameOf(l.MediaServerReference)]; !seen.Known {
			away = append(away, seen)
		}
	}
	return away
}

// occupiedBefore is a media server that the Meeting left, may use, and that shows participants.
func (p *plan) occupiedBefore() (types.NamespacedName, bool) {
	for _, l := range p.status.LeftMediaServers {
		name := nameOf(l.MediaServerReference)
		place, known := p.placeNamed(name)
		if seen := p.Left[name]; known && !place.Retired && seen.Known && len(seen.Participants) > 0 {
			return name, true
		}
	}
	return types.NamespacedName{}, false
}

// seesAll reports whether every media server answers on which participants may be, so that nobody is in whom nobody sees.
func (p *plan) seesAll() bool { return p.Seen.Known && len(p.status.LeftMediaServers) == 0 }
