// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// stage is a meeting with a presenter and a participant who is none.
type stage struct {
	account
	room         string
	chair, guest *testkit.Page
	// guestLink is the guest's join link.
	guestLink string
}

func (a account) stage(room string) *stage {
	a.t.Helper()
	s := &stage{account: a, room: room}
	s.chair = a.join(small, map[string]any{"room": room, "name": "Chair", "token": a.presenterToken("chair")})
	s.guestLink = a.link(map[string]any{"room": room, "name": "Guest", "audio": true})
	s.guest = testkit.Browser(a.t).OpenOn(a.t, small, s.guestLink)
	a.t.Cleanup(s.chair.Close)
	a.t.Cleanup(s.guest.Close)
	s.guest.WaitFor(a.t, inRoom)
	s.chair.WaitFor(a.t, seenWith("Guest", "[data-muted=false]"))
	return s
}

// TestPresenters: what a presenter does in the page, the others' pages show; and where everybody goes at the end.
func TestPresenters(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	home := farewell(t)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) { a.Spec.Web = &v1alpha1.WebSpec{HomeURL: v1alpha1.URL(home)} })
	t.Run("mutes, lowers a hand, removes", func(t *testing.T) { mutesLowersRemoves(t, w.a.on(t)) })
	t.Run("ends for all with a redirect", func(t *testing.T) { endsForAll(t, w.a.on(t), farewell(t)+"?to=all") })
	t.Run("ends for all without", func(t *testing.T) {
		w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
			// Pages whose countdown is over are gone: a slow machine does not look at all in twenty seconds.
			a.Spec.Web = &v1alpha1.WebSpec{HomeURL: v1alpha1.URL(home), EndCountdown: &metav1.Duration{Duration: 5 * time.Minute}}
		})
		s := w.a.stage("short")
		end(t, s.chair, "")
		s.chair.WaitFor(t, shows("ended-countdown"))
		s.chair.Press(t, "Shift")
		s.chair.WaitFor(t, hasNo("ended-countdown"))
		s.guest.WaitFor(t, shows("ended-countdown"))
		s.guest.Click(t, by("ended-continue"))
		s.guest.WaitForURL(t, home)
		s.chair.Reload(t)
		s.chair.WaitFor(t, shows("ended")+" && "+hasNo("ended-countdown")+" && "+shows("rejoin-button"))
		s.chair.Click(t, by("ended-continue"))
		s.chair.WaitForURL(t, home)
	})
	t.Run("ends for all where the first page is home", func(t *testing.T) {
		const room = "quarterly_review_of_the_finance_department_of_2026_and_2027" // No line breaks in it.
		s := w.b.on(t).stage(room)
		end(t, s.chair, "")
		s.guest.WaitFor(t, shows("ended-countdown"))
		s.guest.Click(t, by("ended-continue"))
		narrow := testkit.Device{Width: 390, Height: 844}
		s.guest.Use(t, narrow)
		s.guest.WaitFor(t, shows("home-ended")+" && "+fitsWidth)
		takeScreenshots(t, s.guest, narrow, "home ended")
		if said := textOf(t, s.guest, "home-ended"); said != "The meeting "+room+" has ended." {
			t.Errorf("the first page says %q", said)
		}
		s.guest.Reload(t)
		s.guest.WaitFor(t, shows("home")+" && "+hasNo("home-ended"))
	})
	t.Run("who was offline goes where the others went", func(t *testing.T) {
		for room, redirect := range map[string]string{"away": farewell(t) + "?to=late", "away, no redirect": ""} {
			s := w.a.on(t).stage(room)
			s.guest.Offline(t, true)
			s.guest.WaitFor(t, `document.querySelector('[data-testid=reconnecting]')`)
			end(t, s.chair, redirect)
			if redirect != "" {
				s.chair.WaitForURL(t, redirect)
			} else {
				s.chair.WaitFor(t, shows("ended"))
			}
			s.guest.Offline(t, false)
			s.guest.WaitForURL(t, orElse(redirect, home))
		}
	})
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func end(t *testing.T, p *testkit.Page, redirect string) {
	t.Helper()
	askForTheEnd(t, p)
	if redirect != "" {
		p.Type(t, by("end-redirect"), redirect)
	}
	p.Click(t, by("end-confirm"))
}

// askForTheEnd opens the question whether the meeting ends, with the choice where the participants go.
func askForTheEnd(t testing.TB, p *testkit.Page) {
	t.Helper()
	p.Click(t, by("leave-menu"))
	p.Click(t, by("end-for-all"))
	p.Click(t, by("end-more"))
}

func mutesLowersRemoves(t *testing.T, a account) {
	s := a.stage("class")
	s.guest.Click(t, by("hand-toggle"))
	s.chair.WaitFor(t, `document.querySelector('[data-testid=announcements]').innerText.includes('Guest raised a hand') &&
		document.querySelector('[data-testid=people-asking]').dataset.count === '1' && `+seenWith("Guest", ":has(.tile-hand)"))
	openPanel(t, s.chair, "participants")
	s.chair.WaitFor(t, `document.querySelector('[data-testid=participant-row]').dataset.name === 'Guest'`)
	actOn(t, s.chair, "Guest", "act-lower-hand")
	s.guest.WaitFor(t, `document.querySelector('[data-testid=hand-toggle]').ariaPressed === 'false' && !document.querySelector('.tile-hand')`)

	actOn(t, s.chair, "Guest", "act-mute")
	s.guest.WaitFor(t, `document.querySelector('[data-testid=mic-toggle]').ariaPressed === 'false'`)
	s.guest.WaitForText(t, "A presenter switched your microphone off.")
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	s.guest.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))
	actOn(t, s.chair, "Guest", "act-lock-microphone")
	s.guest.WaitFor(t, micLocked)
	offers(t, s.chair, "Guest", hasNo("act-mute")+" && "+shows("act-allow-to-speak"))

	actOn(t, s.chair, "Guest", "act-remove")
	s.chair.Click(t, by("remove-confirm"))
	s.guest.WaitFor(t, errorScreen("Removed"))
	s.chair.WaitFor(t, "!"+tileOf("Guest"))
	s.guest.Goto(t, s.guestLink)
	s.guest.WaitFor(t, errorScreen("NotAllowed"))
	if is(t, s.guest, shows("retry-button")) {
		t.Error("the removed one is offered what cannot work")
	}
}

func endsForAll(t *testing.T, a account, to string) {
	s := a.stage("lecture")
	askForTheEnd(t, s.chair)
	s.chair.Type(t, by("end-redirect"), "javascript:alert(1)")
	s.chair.Click(t, by("end-confirm"))
	s.chair.WaitFor(t, `document.querySelector('[data-testid=end-redirect]').ariaInvalid === 'true'`)
	s.chair.Type(t, by("end-redirect"), to)
	s.chair.Click(t, by("end-confirm"))
	s.chair.WaitForURL(t, to)
	s.guest.WaitForURL(t, to)

	// A guest who comes late goes where the others went.
	s.guest.Goto(t, s.guestLink)
	s.guest.WaitForURL(t, to)
}

// TestConnectionLost: a page whose network goes, or whose media server is killed, says so, comes back in place, and
// everything that it showed and sent is there again.
func TestConnectionLost(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	room := "stays"
	chair := w.a.join(small, map[string]any{"room": room, "name": "Chair", "token": w.a.presenterToken("chair")})
	guest := w.a.join(small, map[string]any{"room": room, "name": "Guest", "video": true})
	chair.WaitFor(t, seesVideoOf("Guest"))
	identity := identityIn(t, guest)
	openPanel(t, guest, "chat")
	guest.Type(t, by("chat-input"), "before")
	guest.Click(t, by("chat-send"))
	guest.WaitFor(t, shows("chat-message"))

	back := func(t *testing.T) {
		t.Helper()
		guest.WaitFor(t, inRoom+" && "+hasNo("reconnecting"))
		chair.WaitFor(t, inRoom+" && "+seesVideoOf("Guest"))
		if now := identityIn(t, guest); now != identity {
			t.Errorf("the guest came back as %s, was %s", now, identity)
		}
		if !is(t, guest, shows("chat-message")) {
			t.Error("the conversation is lost")
		}
		chair.WaitFor(t, `document.querySelectorAll('[data-testid=tile]').length === 2`)
	}
	t.Run("the network", func(t *testing.T) {
		guest.Offline(t, true)
		guest.WaitFor(t, `document.querySelector('[role=status] [data-testid=reconnecting]')`)
		guest.Offline(t, false)
		back(t)
	})
	t.Run("the media server", func(t *testing.T) {
		w.livekit.Kill()
		guest.WaitFor(t, shows("reconnecting"))
		chair.WaitFor(t, shows("reconnecting"))
		w.livekit.Start(t)
		back(t)
	})
	t.Run("the media server, and the meeting ends meanwhile", func(t *testing.T) {
		w.livekit.Kill()
		guest.WaitFor(t, shows("reconnecting"))
		to := farewell(t)
		if r := w.a.on(t).call("DELETE", "/api/v1/meeting/"+room, map[string]any{"redirect": to}); r.status != http.StatusOK && r.status != http.StatusAccepted {
			t.Fatalf("DELETE answered %d %s", r.status, r.raw)
		}
		chair.WaitForURL(t, to)
		guest.WaitForURL(t, to)
		w.livekit.Start(t)
	})
	t.Run("before anybody was in", func(t *testing.T) {
		w.livekit.Kill()
		p := testkit.Browser(t).OpenOn(t, small, w.a.on(t).link(map[string]any{"room": "later", "name": "Early"}))
		defer p.Close()
		p.WaitFor(t, errorScreen("Unavailable")+" || "+shows("reconnecting"))
		w.livekit.Start(t)
		p.WaitFor(t, inRoom+" && "+fmt.Sprintf("(%s)", tileOf("Early")))
	})
}
