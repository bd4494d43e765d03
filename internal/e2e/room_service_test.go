// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"testing"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// TestServicesOfTheOperator: a page says when the media server records its meeting, and shows the words of a transcription.
func TestServicesOfTheOperator(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	t.Run("recording", w.recording)
	t.Run("captions", w.captions)
	t.Run("telephones", w.telephones)
}

// telephones: the page lists them as what they are, tells of them when they come, and unmutes, locks and removes them.
func (w *world) telephones(t *testing.T) {
	const room, number = "by phone", "sip_+4915112345"
	p := w.a.on(t).join(small, map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})
	defer p.Close()
	w.eventually(t, w.hasPeople(room, 1))
	phone := w.telephone(t, room, number)
	p.WaitForText(t, number+" joined")
	stream := w.service(t, room, "camera", lk.ParticipantInfo_INGRESS, auth.VideoGrant{})
	defer stream.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := phone.Publish(ctx, peer.Microphone); err != nil {
		t.Fatal(err)
	}
	openPanel(t, p, "participants")
	state := func(words string) {
		t.Helper()
		p.WaitFor(t, `document.querySelector('`+rowOf(number)+`')?.innerHTML.includes(`+quote(words)+`)`)
	}
	p.WaitFor(t, `document.querySelector('`+rowOf(number)+`').innerText.includes('By telephone') && document.querySelector('`+rowOf("camera")+`').innerText.includes('Stream')`)
	state("Microphone on")
	offers(t, p, number, hasNo("act-announce")+" && "+hasNo("act-promote")+" && "+hasNo("act-write"))
	checkAccess(t, p, small)
	takeScreenshots(t, p, small, "room telephone")
	actOn(t, p, number, "act-mute")
	state("Microphone off")
	actOn(t, p, number, "act-ask-to-unmute")
	state("Microphone on")
	actOn(t, p, number, "act-lock-microphone")
	state("locked")
	actOn(t, p, number, "act-allow-to-speak")
	state("Microphone on")
	actOn(t, p, number, "act-remove")
	p.Click(t, by("remove-confirm"))
	if reason := <-phone.Disconnected(); reason != "PARTICIPANT_REMOVED" {
		t.Errorf("the telephone is gone because of %s", reason)
	}
}

func (w *world) recording(t *testing.T) {
	const room = "on record"
	p := w.a.on(t).join(small, map[string]any{"room": room, "name": "Ada"})
	defer p.Close()
	recorder := w.service(t, room, "EG_recorder", lk.ParticipantInfo_EGRESS, auth.VideoGrant{Recorder: true, Hidden: true})
	const said = "This meeting is being recorded or streamed."
	p.WaitFor(t, shows("recording")+` && document.querySelector('.lane [role=alert]').innerText.includes(`+quote(said)+`) && document.title.startsWith('● ')`)
	checkAccess(t, p, small)
	takeScreenshots(t, p, small, "room recording")
	// A participant who comes later is told, too.
	late := w.a.on(t).join(small, map[string]any{"room": room, "name": "Late"})
	defer late.Close()
	late.WaitFor(t, shows("recording"))
	late.WaitForText(t, said)
	dismissNotices(t, late)
	late.Click(t, by("recording")) // Which says it in a sentence.
	late.WaitForText(t, said)
	recorder.Close()
	p.WaitFor(t, hasNo("recording")+` && !document.title.startsWith('● ')`)
	p.WaitForText(t, "Recording and streaming have stopped.")
}

func (w *world) captions(t *testing.T) {
	const room = "in words"
	p := w.a.on(t).join(small, map[string]any{"room": room, "name": "Ada"})
	defer p.Close()
	p.Click(t, by("more-menu"))
	p.WaitFor(t, shows("layout-grid")+" && "+hasNo("captions-toggle"))
	p.Press(t, "\x1b")
	grace, e := w.a.on(t).enter(map[string]any{"room": room, "name": "Grace"})
	defer grace.Close()
	p.WaitFor(t, tileOf("Grace"))
	service := w.service(t, room, "agent-words", lk.ParticipantInfo_AGENT, auth.VideoGrant{Hidden: true})
	say := func(id, text string) {
		t.Helper()
		if err := service.Transcribe(t.Context(), e.You.Identity, id, text); err != nil {
			t.Fatal(err)
		}
	}
	say("1", "Good morning")
	p.WaitForText(t, "This meeting has captions.")
	p.Click(t, by("notice-offer"))
	say("2", "Let us begin")
	const shown = `document.querySelector('[data-testid=captions]')?.innerText`
	p.WaitFor(t, shown+`?.includes('Grace Let us begin')`)
	say("2", "Let us begin at once")
	p.WaitFor(t, shown+`?.includes('Grace Let us begin at once')`)
	checkAccess(t, p, small)
	takeScreenshots(t, p, small, "room captions")
	// They stand beside the pictures, and cover none.
	p.WaitFor(t, `document.querySelector('[data-testid=captions]').getBoundingClientRect().top >= document.querySelector('.tiles').getBoundingClientRect().bottom`)
	choose(t, p, "captions-toggle")
	say("3", "Can you hear me")
	p.WaitFor(t, hasNo("captions"))
	// A participant who is no service puts no words into the mouths of others.
	choose(t, p, "captions-toggle")
	_ = grace.Transcribe(t.Context(), e.You.Identity, "4", "forged words")
	say("5", "the last words")
	p.WaitFor(t, shown+`?.includes('the last words')`)
	if is(t, p, shown+`?.includes('forged')`) {
		t.Error("a participant sent captions")
	}
}
