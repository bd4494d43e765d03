// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

func TestParticipantsTellWhatTheTokenSaid(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	before := time.Now().Add(-time.Minute)
	full := engine.Traits{
		Presenter: true, Chat: true, Notify: true, Avatar: "https://example.com/a.png?x=1",
		OS: "Windows", Browser: "Firefox 152",
	}
	presenter := h.join(t, room, "b", full)
	h.join(t, room, "a", engine.Traits{})
	h.join(t, room, "watcher", engine.Traits{Hidden: true, Chat: true, OS: "Linux"})

	want := []engine.Participant{
		{Identity: "b", Name: "Name of b", Traits: full},
		{Identity: "a", Name: "Name of a"},
		{Identity: "watcher", Name: "Name of watcher", Traits: engine.Traits{Hidden: true, Chat: true, OS: "Linux"}},
	}
	got, err := h.Participants(wait(t), room)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(engine.Participant{}, "JoinedAt")); diff != "" {
		t.Errorf("participants, oldest first (-want +got):\n%s", diff)
	}
	for _, p := range got {
		if p.JoinedAt.Before(before) {
			t.Errorf("%s joined at %s, before the test", p.Identity, p.JoinedAt)
		}
	}

	// The others hear of everybody but the watcher, whether they came before it or after.
	late := h.join(t, room, "late", engine.Traits{})
	sees(t, presenter, "a", "late")
	sees(t, late, "a", "b")
}

func sees(t *testing.T, p *peer.Peer, want ...string) {
	t.Helper()
	for _, identity := range want {
		until(t, p, "the peer hears of "+identity, func() bool { return p.Others()[identity] != nil })
	}
	got := slices.Sorted(maps.Keys(p.Others()))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("whom the peer sees (-want +got):\n%s", diff)
	}
}

func TestParticipantsOfNoRoom(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	if people, err := h.Participants(wait(t), "never-there"); err != nil || len(people) != 0 {
		t.Errorf("participants are %v with error %v, want none of both", people, err)
	}
}

func TestParticipantsThatLeave(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	h.join(t, room, "one", engine.Traits{}).Close()
	testkit.Eventually(t, patience, func() error {
		if people, err := h.Participants(wait(t), room); err != nil || len(people) > 0 {
			return errorf("participants are %v with error %v", people, err)
		}
		return nil
	})
}

func TestParticipantsShowWhatTheyPublish(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{})
	type tracks struct{ Audio, Video, Screen bool }
	become := func(want tracks) {
		t.Helper()
		testkit.Eventually(t, patience, func() error {
			who, err := h.participant(t, room, "one")
			if got := (tracks{who.Audio, who.Video, who.Screen}); err != nil || got != want {
				return errorf("tracks are %+v with error %v, want %+v", got, err, want)
			}
			return nil
		})
	}
	publish := func(s peer.Source) *peer.Track {
		t.Helper()
		track, err := p.Publish(wait(t), s)
		if err != nil {
			t.Fatal(err)
		}
		return track
	}
	become(tracks{})
	microphone := publish(peer.Microphone)
	become(tracks{Audio: true})
	camera := publish(peer.Camera)
	become(tracks{Audio: true, Video: true})
	publish(peer.Screen)
	become(tracks{Audio: true, Video: true, Screen: true})
	for _, track := range []*peer.Track{microphone, camera} {
		if err := track.Mute(true); err != nil {
			t.Fatal(err)
		}
	}
	become(tracks{Screen: true})
	if err := microphone.Mute(false); err != nil {
		t.Fatal(err)
	}
	become(tracks{Audio: true, Screen: true})
}

func TestPresentAsksTheNode(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	h.join(t, room, "one", engine.Traits{})
	h.join(t, room, "watcher", engine.Traits{Hidden: true})
	for _, who := range []engine.Identity{"one", "watcher"} {
		before, err := h.participant(t, room, who)
		if err != nil {
			t.Fatal(err)
		}
		if there, err := h.Present(wait(t), room, who); err != nil || !there {
			t.Errorf("%s is there, and the answer is %t, %v", who, there, err)
		}
		if after, _ := h.participant(t, room, who); !cmp.Equal(before, after) {
			t.Errorf("the question has changed %s: %s", who, cmp.Diff(before, after))
		}
	}
	if there, err := h.Present(wait(t), room, "nobody"); err != nil || there {
		t.Errorf("nobody is there: %t, %v", there, err)
	}

	// What LiveKit answers for a participant whose node is gone; make test-cluster has it say so itself.
	away := h.front(t, func(string, []string) bool { return true })
	if there, err := away.Present(wait(t), room, "one"); err != nil || there {
		t.Errorf("the node is gone: %t, %v", there, err)
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no healthy upstream", http.StatusServiceUnavailable)
	}))
	t.Cleanup(proxy.Close)
	behind := dial(t, engine.Server{URL: proxy.URL, Key: h.Key, Secret: h.Secret})
	if there, err := behind.Present(wait(t), room, "one"); err == nil {
		t.Errorf("a proxy knows nothing of nodes, and the answer is %t", there)
	}
}
