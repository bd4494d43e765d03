// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// controlled names the extension for the tenants.
func controlled(a, b *v1alpha1.ConferenceConfig) {
	a.Spec.API.Extensions = []string{"control"}
	b.Spec.API = &v1alpha1.APISpec{Extensions: []string{"control"}}
}

// audible says whether GET participants shows a microphone as on, now.
func (a account) audible(room, identity string) bool {
	a.t.Helper()
	listed := a.want(http.StatusOK, "GET", "/api/v1/meeting/"+room+"/participants", nil)
	_, after, found := strings.Cut(listed.raw, `"identity":"`+identity+`"`)
	if !found {
		a.t.Fatalf("%s is not listed: %s", identity, listed.raw)
	}
	return strings.HasPrefix(after[strings.Index(after, `"media":{`):], `"media":{"audio":true`)
}

// TestControlByREST: what the API decides is so for all participants when it answers, seen by LiveKit and by another participant,
// whichever replica is asked, and a lying page does not get around it.
func TestControlByREST(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	const room, path = "board", "/api/v1/meeting/board"
	adas, ada := w.a.enter(map[string]any{"room": room, "name": "Ada", "duration": "01:00:00", "chat": true, "token": w.a.presenterToken("ada")})
	evesTicket := w.a.ticket(map[string]any{"room": room, "name": "Eve", "chat": true})
	eve := w.a.mustEnter(map[string]any{"ticket": evesTicket})
	eves := eve.connect(t)
	w.eventually(t, w.hasPeople(room, 2))
	until := func(p *peer.Peer, what string, condition func() bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := p.Until(ctx, condition); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	publish := func(p *peer.Peer, source peer.Source) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := p.Publish(ctx, source)
		return err
	}
	patch := func(body map[string]any) { t.Helper(); w.a.want(http.StatusOK, "PATCH", path, body) }
	if err := publish(eves, peer.Microphone); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, func() error {
		if !w.a.audible(room, eve.You.Identity) {
			return errors.New("Eve is not heard")
		}
		return nil
	})

	// A policy takes from those who are in, at once, and leaves presenters alone.
	patch(map[string]any{"policy": map[string]any{"microphone": "Presenters", "chat": "Presenters"}})
	if w.a.audible(room, eve.You.Identity) {
		t.Error("Eve is heard after the answer")
	}
	until(adas, "pages are told of the policy", func() bool { return strings.Contains(adas.Metadata(), `"microphone":"Presenters"`) })
	for _, source := range []peer.Source{peer.Microphone, peer.MicrophoneAsScreen} {
		if err := publish(eves, source); !errors.Is(err, peer.ErrNotAllowed) {
			t.Errorf("source %d against the policy: %v", source, err)
		}
	}
	if err := publish(adas, peer.Microphone); err != nil {
		t.Errorf("a presenter speaks: %v", err)
	}
	if status := w.a.withSession(eve, "session/chat", map[string]any{"text": "hi"}); status != http.StatusForbidden {
		t.Errorf("chat against the policy: %d", status)
	}
	// The access token from before the policy still opens the door, and gives nothing that is forbidden.
	eves.Close()
	eves = eve.connect(t)
	if err := publish(eves, peer.Microphone); !errors.Is(err, peer.ErrNotAllowed) {
		t.Errorf("the microphone with the token from before: %v", err)
	}
	if err := publish(eves, peer.Camera); err != nil {
		t.Errorf("the camera with the token from before: %v", err)
	}

	// A promotion is above the policy, is seen by the other participant, and goes again.
	role := func(role any) {
		t.Helper()
		w.a.want(http.StatusOK, "PATCH", path+"/participants/"+eve.You.Identity, map[string]any{"role": role})
	}
	role("Presenter")
	until(adas, "Ada sees the promotion", func() bool { return adas.Others()[eve.You.Identity]["presenter"] == "true" })
	if err := publish(eves, peer.Microphone); err != nil {
		t.Errorf("a promoted participant speaks: %v", err)
	}
	w.eventually(t, func() error { // The replica that is asked may learn of it a moment later than the other.
		if status := w.a.withSession(eve, "session/act", map[string]any{"action": "unlock"}); status != http.StatusNoContent {
			return fmt.Errorf("a promoted participant acts: %d", status)
		}
		return nil
	})
	role(nil)
	until(adas, "Ada sees the end of the promotion", func() bool { return adas.Others()[eve.You.Identity]["presenter"] == "" })
	if w.a.audible(room, eve.You.Identity) {
		t.Error("Eve is heard after her promotion")
	}
	patch(map[string]any{"policy": nil})
	if err := publish(eves, peer.Microphone); err != nil {
		t.Errorf("without a policy: %v", err)
	}

	// A lock: nobody new but presenters, by REST as by kubectl, on each replica.
	patch(map[string]any{"locked": true})
	for _, each := range w.each() {
		each.refused("a locked meeting", map[string]any{"room": room, "name": "Mallory"}, "Locked")
	}
	if back := w.a.mustEnter(map[string]any{"ticket": evesTicket, "session": eve.Session}); back.You.Identity != eve.You.Identity {
		t.Errorf("Eve comes back as %s", back.You.Identity)
	}
	w.a.mustEnter(map[string]any{"room": room, "name": "Pat", "token": w.a.presenterToken("pat")})
	name := w.meetingsOf(t, room)[0].Name
	w.Kubectl(t, "patch", "meeting", name, "--type=merge", "-p", `{"spec":{"locked":false}}`)
	w.eventually(t, func() error {
		if status, e := w.a.session(map[string]any{"room": room, "name": "Guest"}); status != http.StatusOK {
			return fmt.Errorf("%d %s", status, e.Error)
		}
		return nil
	})
	w.Kubectl(t, "patch", "meeting", name, "--type=merge", "-p", `{"spec":{"locked":true,"policy":{"camera":"Presenters"}}}`)
	w.eventually(t, func() error {
		if sent := w.a.sent(room, eve.You.Identity); strings.Contains(sent, "video") {
			return fmt.Errorf("Eve sends %s against kubectl's policy", sent)
		}
		return nil
	})
	if err := publish(eves, peer.Camera); !errors.Is(err, peer.ErrNotAllowed) {
		t.Errorf("the camera against kubectl's policy: %v", err)
	}
	until(adas, "pages are told of the lock", func() bool { return strings.Contains(adas.Metadata(), `"locked":true`) })
	w.eventually(t, func() error {
		events := w.Kubectl(t, "get", "events", "--field-selector", "involvedObject.name="+name, "-o", "jsonpath={.items[*].reason}")
		for _, reason := range []string{"Locked", "Unlocked", "PolicyChanged"} {
			if !slices.Contains(strings.Fields(events), reason) {
				return fmt.Errorf("no event %s in %s", reason, events)
			}
		}
		return nil
	})

	// The length: longer, shorter, none; the pages' countdown follows.
	ends := func() string {
		_, after, _ := strings.Cut(adas.Metadata(), `"expiresAt":"`)
		end, _, _ := strings.Cut(after, `"`)
		return end
	}
	for _, length := range []string{"02:00:00", "unlimited", "00:30:00"} {
		before := ends()
		patch(map[string]any{"duration": length})
		until(adas, "pages are told of "+length, func() bool { return ends() != before && (ends() == "") == (length == "unlimited") })
	}

	// An announcement to all and to one.
	w.a.want(http.StatusOK, "POST", path+"/announcements", map[string]any{"text": "Five minutes left"})
	w.a.want(http.StatusOK, "POST", path+"/announcements", map[string]any{"text": "For you", "to": eve.You.Identity})
	hear := func(p *peer.Peer, want string) {
		t.Helper()
		select {
		case data := <-p.Data():
			if data.Topic != "convene.notice" || !strings.Contains(string(data.Payload), want) {
				t.Errorf("%s: %s, want %s", data.Topic, data.Payload, want)
			}
		case <-time.After(patience):
			t.Errorf("nothing came, want %s", want)
		}
	}
	hear(adas, "Five minutes left")
	hear(eves, "Five minutes left")
	hear(eves, "For you")

	// Removal, twice.
	for range 2 {
		w.a.want(http.StatusOK, "DELETE", path+"/participants/"+eve.You.Identity, nil)
	}
	gone(t, eves)
	w.a.refused("who was removed", map[string]any{"ticket": evesTicket, "session": eve.Session}, "NotAllowed")
	if got := w.a.want(http.StatusOK, "GET", path+"/participants", nil); strings.Contains(got.raw, eve.You.Identity) || !strings.Contains(got.raw, ada.You.Identity) {
		t.Errorf("listed: %s", got.raw)
	}
}

// TestABanIsOfTheUser: no other link of the same username lets a banned participant in, and what is decided about a user counts
// before they come.
func TestABanIsOfTheUser(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	const room, path = "users", "/api/v1/meeting/users/participants/"
	token := func(user string) map[string]any { return map[string]any{"username": user, "password": "x"} }
	eve := w.a.mustEnter(map[string]any{"ticket": w.a.ticket(map[string]any{"room": room, "name": "Eve", "token": token("eve")})})
	second := w.a.mustEnter(map[string]any{"ticket": w.a.ticket(map[string]any{"room": room, "name": "Eve's phone", "token": token("eve")})})
	eves, phone := eve.connect(t), second.connect(t)
	w.eventually(t, w.hasPeople(room, 2))
	w.a.want(http.StatusOK, "DELETE", path+eve.You.Identity, map[string]any{"ban": true})
	gone(t, eves)
	gone(t, phone)
	another := w.a.ticket(map[string]any{"room": room, "name": "Eve", "token": token("eve")})
	w.a.refused("another link of a banned user", map[string]any{"ticket": another}, "NotAllowed")
	if code := w.a.door(second.Engine.Token); code != http.StatusForbidden {
		t.Errorf("the access token of the phone: %d", code)
	}
	w.a.want(http.StatusOK, "PATCH", path+"user:ann", map[string]any{"role": "Presenter"})
	ann := w.a.mustEnter(map[string]any{"ticket": w.a.ticket(map[string]any{"room": room, "name": "Ann", "token": token("ann")})})
	if !ann.You.Presenter {
		t.Errorf("Ann is %+v", ann.You)
	}
	w.a.want(http.StatusNotFound, "PATCH", path+"nobody-1", map[string]any{"muted": true})

	// The username of one who has left is not known: nothing is done rather than half of it.
	anns := ann.connect(t)
	w.a.want(http.StatusOK, "PATCH", path+ann.You.Identity, map[string]any{"muted": true})
	anns.Close()
	w.eventually(t, func() error {
		if listed := w.a.want(http.StatusOK, "GET", "/api/v1/meeting/users/participants", nil).raw; strings.Contains(listed, ann.You.Identity) {
			return errors.New("Ann is still listed")
		}
		return nil
	})
	w.a.want(http.StatusNotFound, "DELETE", path+ann.You.Identity, map[string]any{"ban": true})
	w.a.mustEnter(map[string]any{"ticket": w.a.ticket(map[string]any{"room": room, "name": "Ann", "token": token("ann")})})
	w.a.want(http.StatusOK, "DELETE", path+eve.You.Identity, map[string]any{"ban": true})
}
