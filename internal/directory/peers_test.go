// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"fmt"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// hiding is a tenant whose Meetings do not show names, with an engine, and a directory with so many live meetings of two
// participants and one that is empty.
func hiding(t *testing.T, meetings int) (*Directory, *tenant.Tenant, *faultyengine.Engine) {
	t.Helper()
	media := faultyengine.New()
	of := tenantNamed("a")
	of.NamesHidden, of.Media = true, []*tenant.Media{{Engine: media}}
	d := newDirectory(Options{})
	for i := range meetings + 1 {
		m := aMeeting(fmt.Sprint(i), "a", fmt.Sprintf("room %d", i), i, i+1)
		if i < meetings {
			m.Status.ParticipantCount = 2
			media.Set(View(of, m).EngineRoom, "Anna", "Tom")
		}
		d.changed(m)
	}
	return d, of, media
}

// names are those of each live meeting's peers.
func names(d *Directory, t *testing.T, of *tenant.Tenant) (all []string) {
	t.Helper()
	live, _ := d.Live(t.Context(), of, meeting.Page{})
	for v := range live {
		var peers []string
		for _, p := range v.Peers {
			peers = append(peers, p.Name)
		}
		all = append(all, fmt.Sprintf("%d: %s", v.Counted().ParticipantCount, strings.Join(peers, " ")))
	}
	return all
}

// The media server is asked for the participants of a meeting whose status does not list them, once for each meeting that has participants.
func TestPeersThatMeetingsDoNotShow(t *testing.T) {
	const meetings = 40
	d, of, media := hiding(t, meetings)
	got := names(d, t, of)
	for i, shown := range got {
		want := "2: Anna Tom"
		if i == meetings {
			want = "0: "
		}
		if shown != want {
			t.Errorf("meeting %d shows %q, want %q", i, shown, want)
		}
	}
	if len(got) != meetings+1 || media.Count("participants") != meetings {
		t.Errorf("%d meetings, %d questions", len(got), media.Count("participants"))
	}
}

// Without an answer a meeting has its count and no peers, and a server that does not answer is not asked for every room.
func TestPeersWithoutAnAnswer(t *testing.T) {
	const meetings = 200
	d, of, media := hiding(t, meetings)
	media.Break("participants", faultyengine.ErrUnavailable)
	for i, shown := range names(d, t, of)[:meetings] {
		if shown != "2: " {
			t.Errorf("meeting %d shows %q", i, shown)
		}
	}
	if asked := media.Count("participants"); asked == 0 || asked > 2*roomsAtOnce {
		t.Errorf("it was asked %d times", asked)
	}
	of.Media = nil
	if got := names(d, t, of)[0]; got != "2: " {
		t.Errorf("without a media server a meeting shows %q", got)
	}
}

// A tenant that shows names costs no question.
func TestPeersThatMeetingsShow(t *testing.T) {
	d, of, media := hiding(t, 1)
	of.NamesHidden = false
	m := d.WithUID("0").DeepCopy()
	m.Status.Participants = []v1alpha1.Participant{{Identity: "x", Name: "Eve"}}
	m.ResourceVersion = "100"
	d.changed(m)
	if got := names(d, t, of)[0]; got != "2: Eve" || media.Count("participants") != 0 {
		t.Errorf("the meeting shows %q, and %d questions were asked", got, media.Count("participants"))
	}
}
