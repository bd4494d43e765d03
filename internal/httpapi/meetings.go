// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// meetings is GET meetings.
func (c *call) meetings() (answer, error) {
	ctx, cancel := c.within()
	defer cancel()
	live, err := c.api.meetings.Live(ctx, c.tenant)
	if err != nil {
		return nil, err
	}
	return meetingsAnswer{live: live}, nil
}

type meetingsAnswer struct {
	success
	live []meeting.View
}

func (a meetingsAnswer) body(e *encoder) {
	e.raw(`{"meetings":[`)
	for i := range a.live {
		if i > 0 {
			e.raw(`,`)
		}
		a.meeting(e, &a.live[i])
		if !e.spill() {
			return
		}
	}
	e.raw(`]}`)
}

func (a meetingsAnswer) meeting(e *encoder, v *meeting.View) {
	e.raw(`{"roomId":`)
	e.string(v.Room)
	e.raw(`,"url":`)
	e.string(v.URL)
	e.raw(`,"startedAt":`)
	e.time(v.Begin())
	if !v.Expires.IsZero() {
		e.raw(`,"expiresAt":`)
		e.time(v.Expires)
	}
	e.raw(`,"duration":`)
	e.string(v.Length.String())
	e.raw(`,"participants":`)
	e.int(v.Participants)
	e.raw(`,"peers":[`)
	for i := range v.Peers {
		if i > 0 {
			e.raw(`,`)
		}
		peer(e, &v.Peers[i])
	}
	e.raw(`]}`)
}

func peer(e *encoder, p *v1alpha1.Participant) {
	e.raw(`{"name":`)
	e.string(p.Name)
	e.raw(`,"presenter":`)
	e.bool(p.Presenter)
	e.raw(`,"video":`)
	e.bool(p.Video)
	e.raw(`,"audio":`)
	e.bool(p.Audio)
	e.raw(`,"screen":`)
	e.bool(p.Screen)
	e.raw(`,"hand":`)
	e.bool(p.Hand)
	e.raw(`,"os":`)
	e.string(p.OS)
	e.raw(`,"browser":`)
	e.string(p.Browser)
	e.raw(`,"hidden":`)
	e.bool(p.Hidden)
	e.raw(`}`)
}
