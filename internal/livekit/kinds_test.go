// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// brought joins as what the operator's LiveKit brings into a room.
func (h house) brought(t *testing.T, room engine.RoomName, who string, kind lk.ParticipantInfo_Kind, hidden bool) *peer.Peer {
	t.Helper()
	token, err := auth.NewAccessToken(h.Key, h.Secret).SetIdentity(who).SetKind(kind).
		SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: string(room), Hidden: hidden}).ToJWT()
	if err != nil {
		t.Fatal(err)
	}
	return h.enter(t, token)
}

func TestKindsOfParticipants(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	want := map[engine.Identity]v1alpha1.ParticipantKind{"one": ""}
	h.join(t, room, "one", engine.Traits{})
	for number, name := range lk.ParticipantInfo_Kind_name {
		kind := lk.ParticipantInfo_Kind(number)
		h.brought(t, room, name, kind, kind == lk.ParticipantInfo_EGRESS)
		switch kind {
		case lk.ParticipantInfo_EGRESS, lk.ParticipantInfo_AGENT:
			h.brought(t, room, name+" unseen", kind, true)
		case lk.ParticipantInfo_STANDARD:
			want["STANDARD"] = ""
		default:
			want[engine.Identity(name)] = map[string]v1alpha1.ParticipantKind{
				"SIP": v1alpha1.KindSIP, "INGRESS": v1alpha1.KindIngress, "CONNECTOR": v1alpha1.KindConnector, "BRIDGE": v1alpha1.KindBridge,
			}[name]
		}
	}
	people, err := h.Participants(wait(t), room)
	got := map[engine.Identity]v1alpha1.ParticipantKind{}
	for _, p := range people {
		got[p.Identity] = p.Kind
		if p.Kind != "" && p.Name != string(p.Identity) {
			t.Errorf("%s has the name %q", p.Identity, p.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("kinds (-want +got), with error %v:\n%s", err, diff)
	}
}

// TestATelephoneIsMuted: what a telephone sends is turned off and on again without an answer of the telephone, and the track stays.
func TestATelephoneIsMuted(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	const who = "sip_+4915112345@example.com"
	listener := h.join(t, room, "one", engine.Traits{})
	phone := h.brought(t, room, who, lk.ParticipantInfo_SIP, false)
	for _, source := range []peer.Source{peer.Microphone, peer.Camera} {
		if _, err := phone.Publish(wait(t), source); err != nil {
			t.Fatal(err)
		}
	}
	reads := func(want engine.Participant) {
		t.Helper()
		want.Identity, want.Name, want.Kind = who, who, v1alpha1.KindSIP
		testkit.Eventually(t, patience, func() error {
			got, err := h.participant(t, room, who)
			want.JoinedAt = got.JoinedAt
			if got != want || err != nil {
				return errorf("the telephone is %+v with error %v, want %+v", got, err, want)
			}
			return nil
		})
	}
	hears := func() {
		t.Helper()
		sounds, _ := listener.Received()
		testkit.Eventually(t, patience, func() error {
			if now, _ := listener.Received(); now <= sounds+10 {
				return errorf("the listener hears %d packets more of the telephone", now-sounds)
			}
			return nil
		})
	}
	rights := func(r engine.Rights) { t.Helper(); h.act(t, room, engine.SetRights{Who: who, Rights: r}) }
	reads(engine.Participant{Audio: true, Video: true})
	hears()
	h.act(t, room, engine.Mute{Who: who, What: engine.Microphone})
	reads(engine.Participant{Video: true})
	// What a presenter has muted stays so when a policy comes and goes.
	rights(engine.Rights{Forbidden: engine.Microphone})
	reads(engine.Participant{Video: true, Forbidden: engine.Microphone})
	rights(engine.Rights{})
	reads(engine.Participant{Video: true})
	h.act(t, room, engine.Unmute{Who: who, What: engine.Microphone})
	reads(engine.Participant{Audio: true, Video: true})
	hears()

	locked := engine.Rights{Forbidden: engine.Media &^ engine.Screen, Held: engine.Microphone}
	rights(locked)
	isLocked := engine.Participant{Forbidden: locked.Forbidden, Traits: engine.Traits{Held: engine.Microphone}}
	reads(isLocked)
	h.act(t, room, engine.Unmute{Who: who, What: engine.Media})
	if got, err := h.participant(t, room, who); got.Sends() != 0 || err != nil {
		t.Errorf("unmuted against a lock: %+v with error %v", got, err)
	}
	if _, err := phone.Publish(wait(t), peer.Camera); err != nil {
		t.Fatal(err)
	}
	reads(engine.Participant{Video: true, Forbidden: locked.Forbidden, Traits: isLocked.Traits})
	rights(locked) // The leader does, when a telephone sends what is forbidden.
	reads(isLocked)
	rights(engine.Rights{Forbidden: engine.Camera})
	reads(engine.Participant{Audio: true, Forbidden: engine.Camera})
	hears()
	rights(engine.Rights{})
	reads(engine.Participant{Audio: true, Video: true})
	// The sound of a screen is a microphone's, too.
	if _, err := phone.Publish(wait(t), peer.MicrophoneAsScreen); err != nil {
		t.Fatal(err)
	}
	reads(engine.Participant{Audio: true, Video: true, Screen: true})
	rights(engine.Rights{Forbidden: engine.Microphone | engine.Screen})
	reads(engine.Participant{Video: true, Forbidden: engine.Microphone | engine.Screen})
	rights(engine.Rights{Forbidden: engine.Microphone})
	h.act(t, room, engine.Unmute{Who: who, What: engine.Screen})
	reads(engine.Participant{Video: true, Forbidden: engine.Microphone})
	rights(engine.Rights{})

	// A page switches itself on.
	if _, err := listener.Publish(wait(t), peer.Microphone); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, patience, func() error {
		if got, err := h.participant(t, room, "one"); !got.Audio || err != nil {
			return errorf("the listener is %+v with error %v", got, err)
		}
		return nil
	})
	h.act(t, room, engine.Mute{Who: "one", What: engine.Microphone})
	h.act(t, room, engine.Unmute{Who: "one", What: engine.Media})
	if got, err := h.participant(t, room, "one"); got.Audio || err != nil {
		t.Errorf("a page was unmuted: %+v with error %v", got, err)
	}
	h.act(t, room, engine.Remove{Who: who})
	if reason := reasonOf(t, phone); reason != "PARTICIPANT_REMOVED" {
		t.Errorf("the telephone is gone because of %s", reason)
	}
}

// TestNoUnmute: a LiveKit that turns nothing on says so, once, and all else is as asked.
func TestNoUnmute(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{NoUnmute: true})
	room := h.room(t)
	phone := h.brought(t, room, "phone", lk.ParticipantInfo_SIP, false)
	if _, err := phone.Publish(wait(t), peer.Microphone); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, patience, func() error {
		if got, err := h.participant(t, room, "phone"); !got.Audio || err != nil {
			return errorf("the telephone is %+v with error %v", got, err)
		}
		return nil
	})
	h.act(t, room, engine.SetRights{Who: "phone", Rights: engine.Rights{Forbidden: engine.Microphone}})
	wantKind(t, h.Act(wait(t), room, engine.SetRights{Who: "phone", Rights: engine.Rights{Presenter: true}}), fault.KindConflict)
	if got, err := h.participant(t, room, "phone"); got.Audio || got.Rights() != (engine.Rights{Presenter: true}) || err != nil {
		t.Errorf("the telephone is %+v with error %v", got, err)
	}
	wantKind(t, h.Act(wait(t), room, engine.Unmute{Who: "phone", What: engine.Microphone}), fault.KindConflict)
	h.act(t, room, engine.Mute{Who: "phone", What: engine.Microphone})
}
