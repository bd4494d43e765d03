// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
)

// nextMeeting ends the meeting of a room, and begins another.
func (w *world) nextMeeting(room string) {
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
}

// TestAPageThatSlept: the session of a page that slept for more than a day is worth nothing, and the room has another meeting. Nobody is taken
// into that by themselves, whoever holds a link or not.
func TestAPageThatSlept(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "daily"})
	browser := testkit.Browser(t)
	byLink := w.a.join(small, map[string]any{"room": "daily", "name": "Ann", "audio": true})
	defer byLink.Close()
	byRoom := browser.OpenOn(t, small, w.a.roomURL("daily"))
	defer byRoom.Close()
	byRoom.Type(t, by("name-input"), "Bob")
	byRoom.Click(t, by("join-button"))
	pages := []*testkit.Page{byLink, byRoom}
	for _, p := range pages {
		p.WaitFor(t, inRoom)
	}
	for _, p := range pages {
		p.Offline(t, true)
		p.WaitFor(t, shows("reconnecting"))
	}
	// After a day a session is over. So it is without the key that signed it.
	w.replaceSigningKeys(t)
	w.nextMeeting("daily")
	for _, p := range pages {
		p.Offline(t, false)
		// The room may have its next meeting, and so nobody is sent away.
		p.WaitFor(t, shows("ended")+" && "+shows("rejoin-button")+" && "+hasNo("ended-countdown"))
	}
	w.eventually(t, w.hasPeople("daily", 0))
	takeScreenshots(t, byRoom, small, "ended while asleep")
	// A press is an arrival.
	byRoom.Click(t, by("rejoin-button"))
	byRoom.WaitFor(t, inRoom)
}

// replaceSigningKeys takes away what all sessions were signed with, but for the key of pseudonyms.
func (w *world) replaceSigningKeys(t *testing.T) {
	t.Helper()
	var keys corev1.Secret
	if err := w.Client.Get(t.Context(), w.key("default-signing-keys"), &keys); err != nil {
		t.Fatal(err)
	}
	patch := `{"data":{"19990101t000000z-new":"bmV3IGtleSBvZiBhdCBsZWFzdCB0aGlydHktdHdvIGJ5dGVzISE="`
	for name := range keys.Data {
		if name != "0-pseudonym" {
			patch += `,"` + name + `":null`
		}
	}
	if err := w.Client.Patch(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: keys.Namespace, Name: keys.Name}},
		client.RawPatch(types.MergePatchType, []byte(patch+`}}`))); err != nil {
		t.Fatal(err)
	}
}

// TestATabThatWasIn: a tab keeps the seat of its participant. When that meeting is over, whoever opens the link in the same tab enters the next
// one of the room. The browser takes nobody there by itself.
func TestATabThatWasIn(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "weekly"})
	p := testkit.Browser(t).OpenOn(t, small, w.a.roomURL("weekly"))
	defer p.Close()
	enter := func() {
		t.Helper()
		p.WaitFor(t, shows("join-button"))
		p.Type(t, by("name-input"), "Ann")
		p.Click(t, by("join-button"))
		p.WaitFor(t, inRoom)
	}
	enter()
	p.Goto(t, w.a.baseURL+"/")
	w.nextMeeting("weekly")
	p.Goto(t, w.a.roomURL("weekly"))
	enter()

	link := func() string { return w.a.link(map[string]any{"room": "weekly", "name": "Bob", "audio": true}) }
	p.Goto(t, link())
	p.WaitFor(t, inRoom)
	p.Goto(t, w.a.baseURL+"/")
	w.nextMeeting("weekly")
	testkit.Eval[any](t, p, "(history.back(), 0)")
	p.WaitFor(t, shows("ended")+" && "+shows("rejoin-button"))
	p.Goto(t, link())
	p.WaitFor(t, inRoom)
}
