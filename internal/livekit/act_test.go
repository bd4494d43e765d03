// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

func (h house) act(t *testing.T, room engine.RoomName, action engine.Action) {
	t.Helper()
	if err := h.Act(wait(t), room, action); err != nil {
		t.Fatalf("%#v: %v", action, err)
	}
}

// mute forbids the microphone.
func mute(who engine.Identity) engine.Action {
	return engine.SetRights{Who: who, Rights: engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}}
}

func TestRemoveDisconnectsAndIsIdempotent(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{})
	stays := h.join(t, room, "two", engine.Traits{})
	h.act(t, room, engine.Remove{Who: "one"})
	if reason := reasonOf(t, p); reason != "PARTICIPANT_REMOVED" {
		t.Errorf("reason is %s, want PARTICIPANT_REMOVED", reason)
	}
	until(t, stays, "the other is alone", func() bool { return len(stays.Others()) == 0 })
	h.act(t, room, engine.Remove{Who: "one"})
	h.act(t, "never-there", engine.Remove{Who: "one"})
}

func TestHandIsRaisedAndLowered(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{Presenter: true, Chat: true})
	other := h.join(t, room, "two", engine.Traits{})
	since := ""
	for i, raised := range []bool{true, true, false, false} {
		h.act(t, room, engine.Hand{Who: "one", Raised: raised})
		testkit.Eventually(t, patience, func() error {
			want := engine.Participant{Traits: engine.Traits{Presenter: true, Chat: true}, Hand: raised}
			who, err := h.participant(t, room, "one")
			if err != nil || who.Hand != raised || who.Traits != want.Traits || who.Name != "Name of one" {
				return errorf("participant is %+v with error %v", who, err)
			}
			return nil
		})
		until(t, other, "the other sees the hand", func() bool { return (other.Others()["one"]["hand"] == "true") == raised })
		now := other.Others()["one"]["handSince"]
		if (now != "") != raised || i == 1 && now != since {
			t.Errorf("call %d: the hand is up since %q, before it was %q", i, now, since)
		}
		since = now
	}
	until(t, p, "a lowered hand is no attribute", func() bool {
		_, ok := p.Attributes()["hand"]
		return !ok
	})
	wantKind(t, h.Act(wait(t), room, engine.Hand{Who: "nobody", Raised: true}), fault.KindNotFound)
}

func TestMuteLastsAndLeavesTheRest(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{})
	for _, source := range []peer.Source{peer.Microphone, peer.Camera} {
		if _, err := p.Publish(wait(t), source); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, patience, func() error {
			if who, err := h.participant(t, room, "one"); err != nil || !who.Audio || (source == peer.Camera) != who.Video {
				return errorf("participant is %+v with error %v", who, err)
			}
			return nil
		})
	}
	h.act(t, room, mute("one"))
	muted := func() error {
		if who, err := h.participant(t, room, "one"); err != nil || who.Audio || !who.Video || who.Rights() != (engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}) {
			return errorf("participant is %+v with error %v", who, err)
		}
		return nil
	}
	testkit.Eventually(t, patience, muted)
	if _, err := p.Publish(wait(t), peer.Microphone); !errors.Is(err, peer.ErrNotAllowed) {
		t.Errorf("publishing the microphone again: error is %v, want %v", err, peer.ErrNotAllowed)
	}
	if _, err := p.Publish(wait(t), peer.Screen); err != nil {
		t.Errorf("publishing the screen: %v", err)
	}
	h.act(t, room, mute("one"))
	testkit.Eventually(t, patience, muted)
	wantKind(t, h.Act(wait(t), room, mute("nobody")), fault.KindNotFound)
}

func TestAllowToSpeakUndoesAMute(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{Presenter: true})
	watcher := h.join(t, room, "watcher", engine.Traits{Hidden: true})
	h.act(t, room, mute("one"))
	if _, err := p.Publish(wait(t), peer.Microphone); !errors.Is(err, peer.ErrNotAllowed) {
		t.Fatalf("the mute did nothing: %v", err)
	}
	for range 2 {
		h.act(t, room, engine.SetRights{Who: "one", Rights: engine.Rights{Presenter: true}})
		h.act(t, room, engine.SetRights{Who: "watcher"})
	}
	if who, err := h.participant(t, room, "one"); err != nil || who.Audio {
		t.Errorf("the microphone is on by itself: %+v, %v", who, err)
	}
	if _, err := p.Publish(wait(t), peer.Microphone); err != nil {
		t.Errorf("publishing the microphone: %v", err)
	}
	testkit.Eventually(t, patience, func() error {
		who, err := h.participant(t, room, "one")
		if err != nil || !who.Audio || who.Rights() != (engine.Rights{Presenter: true}) || who.Name != "Name of one" {
			return errorf("participant is %+v with error %v", who, err)
		}
		return nil
	})
	if _, err := watcher.Publish(wait(t), peer.Microphone); !errors.Is(err, peer.ErrNotAllowed) {
		t.Errorf("a hidden participant publishes: %v", err)
	}
	if who, err := h.participant(t, room, "watcher"); err != nil || !who.Hidden {
		t.Errorf("the watcher is %+v with error %v, want hidden", who, err)
	}
	wantKind(t, h.Act(wait(t), room, engine.SetRights{Who: "nobody"}), fault.KindNotFound)
}

// TestARoleIsTakenBack: what a participant came as is known after every change of their role, and in tokens that are limited.
func TestARoleIsTakenBack(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	h.join(t, room, "one", engine.Traits{})
	for _, rights := range []engine.Rights{{Presenter: true, Promoted: true}, {}, {Presenter: true}, {Presenter: true, Promoted: true}} {
		h.act(t, room, engine.SetRights{Who: "one", Rights: rights})
		testkit.Eventually(t, patience, func() error {
			if who, err := h.participant(t, room, "one"); err != nil || who.Rights() != rights || who.Granted {
				return errorf("participant is %+v with error %v", who, err)
			}
			return nil
		})
	}
	token, err := h.Grant(engine.Grant{Room: room, Identity: "two", Traits: engine.Traits{Presenter: true, Granted: true, Username: "ann"}, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if token, err = h.Limit(token, engine.Rights{Forbidden: engine.Camera}); err != nil {
			t.Fatal(err)
		}
		if got, err := h.Inspect(token); err != nil || got != (engine.Bearer{Room: room, Identity: "two", Username: "ann", Granted: true}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// TestWhoHasBeenIn: a token of ours says so only where it was granted so, and every token that LiveKit renews.
func TestWhoHasBeenIn(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	first, known := h.grant(t, room, "one", engine.Traits{}), h.grant(t, room, "one", engine.Traits{In: true})
	p := h.enter(t, first)
	if err := p.Until(wait(t), func() bool { return p.Token() != "" }); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token string
		in    bool
	}{"a first token": {first, false}, "a token of one who comes back": {known, true}, "a renewed token": {p.Token(), true}} {
		if got, err := h.Inspect(c.token); err != nil || got != (engine.Bearer{Room: room, Identity: "one", In: c.in}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestMuteBeforeTheMicrophoneIsOn(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{})
	h.act(t, room, mute("one"))
	if _, err := p.Publish(wait(t), peer.Microphone); !errors.Is(err, peer.ErrNotAllowed) {
		t.Errorf("error is %v, want %v", err, peer.ErrNotAllowed)
	}
}

func TestALockTakesAwayDisguises(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	for name, tc := range map[engine.Identity]struct {
		as   peer.Source
		lock engine.Abilities
	}{"voice": {peer.DisguisedMicrophone, engine.Microphone}, "picture": {peer.DisguisedCamera, engine.Camera}} {
		p := h.join(t, room, name, engine.Traits{})
		if _, err := p.Publish(wait(t), tc.as); err != nil {
			t.Fatal(err)
		}
		sends := func(want engine.Abilities) func() error {
			return func() error {
				if who, err := h.participant(t, room, name); err != nil || who.Sends() != want {
					return errorf("participant is %+v with error %v", who, err)
				}
				return nil
			}
		}
		testkit.Eventually(t, patience, sends(tc.lock))
		h.act(t, room, engine.SetRights{Who: name, Rights: engine.Rights{Forbidden: tc.lock}})
		testkit.Eventually(t, patience, sends(0))
		if _, err := p.Publish(wait(t), tc.as); !errors.Is(err, peer.ErrNotAllowed) {
			t.Errorf("error is %v, want %v", err, peer.ErrNotAllowed)
		}
		h.act(t, room, engine.SetRights{Who: name})
		if _, err := p.Publish(wait(t), tc.as); err != nil {
			t.Errorf("when it is allowed again: %v", err)
		}
	}
}

func TestMuteKeepsTheHiddenHidden(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	h.join(t, room, "watcher", engine.Traits{Hidden: true})
	other := h.join(t, room, "two", engine.Traits{})
	h.act(t, room, mute("watcher"))
	h.act(t, room, engine.Hand{Who: "watcher", Raised: true})
	who, err := h.participant(t, room, "watcher")
	if err != nil || !who.Hidden {
		t.Errorf("the watcher is %+v with error %v, want hidden", who, err)
	}
	h.join(t, room, "three", engine.Traits{})
	sees(t, other, "three")
}

func TestSayReachesChatOnly(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	chatting := engine.Traits{Chat: true}
	one, two := h.join(t, room, "one", chatting), h.join(t, room, "two", chatting)
	watcher := h.join(t, room, "watcher", engine.Traits{Chat: true, Hidden: true})
	deaf := h.join(t, room, "deaf", engine.Traits{})
	h.act(t, room, engine.Say{Topic: "convene.chat", Payload: []byte(`{"text":"hello"}`)})
	want := peer.Data{Topic: "convene.chat", Payload: []byte(`{"text":"hello"}`)}
	for _, p := range []*peer.Peer{one, two, watcher} {
		if diff := cmp.Diff(want, next(t, p)); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
	}
	// Packets arrive in order, so what everybody gets shows that nothing came before it.
	h.broadcast(t, room, "the end")
	if got := next(t, deaf); got.Topic != "the end" {
		t.Errorf("the peer without chat received %q", got.Payload)
	}
}

func TestSayToNobodyIsNotToEverybody(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	deaf := h.join(t, room, "deaf", engine.Traits{})
	h.act(t, room, engine.Say{Topic: "convene.chat", Payload: []byte("hello")})
	h.act(t, "never-there", engine.Say{Topic: "convene.chat", Payload: []byte("hello")})
	h.broadcast(t, room, "the end")
	if got := next(t, deaf); got.Topic != "the end" {
		t.Errorf("the peer without chat received %q", got.Payload)
	}
}

func (h house) broadcast(t *testing.T, room engine.RoomName, topic string) {
	t.Helper()
	rooms, ctx := h.raw(t, auth.VideoGrant{RoomAdmin: true, Room: string(room)})
	if _, err := rooms.SendData(ctx, &lk.SendDataRequest{Room: string(room), Topic: &topic}); err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, p *peer.Peer) peer.Data {
	t.Helper()
	select {
	case data := <-p.Data():
		return data
	case <-wait(t).Done():
		t.Fatal("nothing arrives")
		return peer.Data{}
	}
}

// TestAParticipantWhoTakesNoData: LiveKit holds no more than a part of it, and the others have all at once.
func TestAParticipantWhoTakesNoData(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	takes := h.join(t, room, "takes", engine.Traits{Chat: true})
	stalls := h.join(t, room, "stalls", engine.Traits{Chat: true})
	goOn := stalls.Stall()
	const messages = 400
	long := []byte(strings.Repeat("x", 14<<10))
	for range messages {
		h.act(t, room, engine.Say{Topic: "chat", Payload: long})
		if got := <-takes.Data(); len(got.Payload) != len(long) {
			t.Fatalf("%d bytes arrive", len(got.Payload))
		}
	}
	goOn()
	arrived := 0
	testkit.Eventually(t, patience, func() error {
		h.act(t, room, engine.Say{Topic: "last"})
		for {
			select {
			case data := <-stalls.Data():
				if data.Topic == "last" {
					return nil
				}
				arrived++
			case <-time.After(100 * time.Millisecond):
				return errorf("%d messages arrive, and not the last one", arrived)
			}
		}
	})
	// Its own buffer has 1 MiB as well.
	if most := 3 << 20 / len(long); arrived == 0 || arrived > most {
		t.Errorf("%d of %d messages arrive late, at most %d are to be held", arrived, messages, most)
	}
}
