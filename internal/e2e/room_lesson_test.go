// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// teacher decides who may speak in a lesson.
type teacher struct {
	// keeps keeps the microphone to presenters, or opens it to everyone.
	keeps func(everyone bool)
	// gives gives a pupil the word, takes takes it, locks locks the pupil's microphone, and promotes makes the pupil a presenter.
	gives, takes, locks, promotes func()
	// mutesAll switches off all microphones. That does not last, so that kubectl has no form of it.
	mutesAll func()
}

// TestALesson: whether a teacher decides in the page, by REST or with kubectl, two pupils may speak or not in the same way, and read why.
func TestALesson(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t, controlled)
	for name, teaches := range map[string]func(*world, backend) teacher{
		"in the page": teachesInThePage, "by REST": teachesByREST, "with kubectl": teachesWithKubectl,
	} {
		t.Run(name, func(t *testing.T) {
			b := backend{w.a.on(t).stage(name), t}
			openPanel(t, b.chair, "participants")
			lesson(t, b, teaches(w, b))
		})
	}
}

func teachesInThePage(_ *world, b backend) teacher {
	on := func(act string) func() {
		return func() { actOn(b.t, b.chair, "Guest", act) }
	}
	return teacher{
		mutesAll: mutesAllInThePage(b), keeps: func(everyone bool) { rule(b.t, b.chair, "microphone", everyone) },
		gives: on("act-allow-to-speak"), takes: on("act-mute"), locks: on("act-lock-microphone"), promotes: on("act-promote"),
	}
}

func mutesAllInThePage(b backend) func() {
	return func() {
		muteAll(b.t, b.chair, true)
		b.chair.WaitFor(b.t, reads("2 microphones were switched off."))
	}
}

func teachesByREST(_ *world, b backend) teacher {
	decides := func(change map[string]any) func() {
		return func() { b.about(b.guest, "PATCH", change) }
	}
	return teacher{
		mutesAll: func() { b.does("PATCH", "", map[string]any{"muteAll": true}) },
		keeps: func(everyone bool) {
			b.does("PATCH", "", map[string]any{"policy": map[string]any{"microphone": audience(everyone)}})
		},
		gives: decides(map[string]any{"allowToSpeak": true}), takes: decides(map[string]any{"media": map[string]any{"audio": false}}),
		locks: decides(map[string]any{"muted": true}), promotes: decides(map[string]any{"role": "Presenter"}),
	}
}

func teachesWithKubectl(w *world, b backend) teacher {
	meeting := w.meetingsOf(b.t, b.room)[0].Name
	patch := func(spec map[string]any) {
		change, err := json.Marshal(map[string]any{"spec": spec})
		if err != nil {
			b.t.Fatal(err)
		}
		w.Kubectl(b.t, "patch", "meeting", meeting, "--type=merge", "-p", string(change))
	}
	decision := map[string]any{"identity": identityIn(b.t, b.guest)}
	decides := func(field string, value any) func() {
		return func() {
			decision[field] = value
			patch(map[string]any{"participants": []any{decision}})
		}
	}
	return teacher{
		mutesAll: mutesAllInThePage(b), keeps: func(everyone bool) { patch(map[string]any{"policy": map[string]any{"microphone": audience(everyone)}}) },
		gives: decides("grantedSources", []string{"Microphone"}), takes: decides("grantedSources", []string{}),
		locks: decides("muted", true), promotes: decides("role", "Presenter"),
	}
}

func audience(everyone bool) string {
	if everyone {
		return "Everyone"
	}
	return "Presenters"
}

// reads is true while one notice stands, and begins with a text.
func reads(text string) string {
	return fmt.Sprintf(`(all => all.length === 1 && all[0].innerText.startsWith(%q))(document.querySelectorAll('[data-testid=notice]'))`, text)
}

func lesson(t *testing.T, b backend, teacher teacher) {
	const kept, open = "Only presenters may use the microphone now.", "Everyone may use the microphone again."
	const silenced, again = "A presenter switched your microphone off.", "You may speak again"
	pupil, other := b.guest, b.join(small, map[string]any{"room": b.room, "name": "Bob", "audio": true})
	defer other.Close()
	speaks := func() {
		t.Helper()
		pupil.Click(t, by("mic-toggle"))
		other.WaitFor(t, seenWith("Guest", "[data-muted=false]"))
	}
	b.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]")+" && "+seenWith("Bob", "[data-muted=false]"))
	teacher.mutesAll()
	for _, p := range []*testkit.Page{pupil, other} {
		p.WaitFor(t, reads(silenced)+" && !"+micLocked)
		p.Click(t, by("mic-toggle"))
	}
	other.WaitFor(t, seenWith("Guest", "[data-muted=false]"))

	teacher.keeps(false)
	for _, p := range []*testkit.Page{pupil, other} {
		p.WaitFor(t, micLocked+" && "+reads(kept))
	}
	teacher.gives()
	pupil.WaitFor(t, "!"+micLocked+" && "+reads(again))
	speaks()
	teacher.takes()
	pupil.WaitFor(t, micLocked+" && "+reads(kept))
	other.WaitFor(t, seenWith("Guest", "[data-muted=true]")+" && "+micLocked)
	teacher.keeps(true)
	pupil.WaitFor(t, "!"+micLocked+" && ("+reads(open)+" || "+reads(again)+")")
	other.WaitFor(t, "!"+micLocked)
	speaks()

	teacher.locks()
	pupil.WaitFor(t, micLocked+" && "+reads(silenced))
	teacher.keeps(false)
	other.WaitFor(t, micLocked)
	teacher.keeps(true)
	other.WaitFor(t, "!"+micLocked)
	if !is(t, pupil, micLocked+" && !"+reads(open)) {
		t.Error("what opens for everyone opens for a pupil whose microphone is locked")
	}
	teacher.promotes()
	pupil.WaitFor(t, presents+" && "+micLocked)
	openPanel(t, pupil, "participants")
	actOn(t, pupil, "Guest", "act-allow-to-speak")
	pupil.WaitFor(t, "!"+micLocked)
	speaks()
	teacher.keeps(false)
	other.WaitFor(t, micLocked+" && "+seenWith("Guest", "[data-muted=false]"))
	if is(t, pupil, micLocked) {
		t.Error("a presenter is silenced by the rule")
	}
}
