// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// defiance is what the liar's script tries against a policy: each source, under each name, with a client of LiveKit that believes
// to be allowed all. Each fails, by an error or without effect.
const defiance = `(async () => {
	const all = {canPublish: true, canPublishData: true, canSubscribe: true, canUpdateMetadata: true, canPublishSources: []};
	const me = stolen.localParticipant;
	Object.defineProperty(me, 'permissions', {configurable: true, get: () => all, set() {}});
	const media = await navigator.mediaDevices.getUserMedia({audio: true, video: true});
	const send = (track, source) => () => me.publishTrack(track.clone(), {source, name: 'lie'});
	const tried = await Promise.allSettled([
		() => me.setMicrophoneEnabled(true),
		() => me.setCameraEnabled(true),
		send(media.getAudioTracks()[0], 'microphone'),
		send(media.getAudioTracks()[0], 'screen_share_audio'),
		send(media.getAudioTracks()[0], 'camera'),
		send(media.getVideoTracks()[0], 'camera'),
		send(media.getVideoTracks()[0], 'screen_share'),
		() => me.publishData(new TextEncoder().encode('{"text":"forged words"}'), {reliable: true, topic: 'convene.chat'}),
		() => me.setAttributes({presenter: 'true'}),
	].map(lie => Promise.race([lie(), new Promise((_, fail) => setTimeout(fail, 3000))])));
	return tried.length;
})()`

// TestChangedPageAgainstAPolicy: one who sent sound and picture before a policy forbade it is heard and seen no more, whatever the
// page's script tries, and stays out when removed.
func TestChangedPageAgainstAPolicy(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t, controlled)
	const room, path = "rules", "/api/v1/meeting/rules"
	witness, _ := w.a.enter(map[string]any{"room": room, "name": "Witness", "chat": true})
	d := small
	d.Script = liar
	eve := testkit.Browser(t).OpenOn(t, d, w.a.link(map[string]any{"room": room, "name": "Eve", "audio": true, "video": true, "chat": true}))
	eve.WaitFor(t, inRoom)
	identity := testkit.Eval[string](t, eve, `opened.you.identity`)
	w.eventually(t, func() error {
		if sent := w.a.sent(room, identity); sent != "audio video " || !witness.Hears(identity) {
			return fmt.Errorf("Eve sends %q", sent)
		}
		return nil
	})
	w.a.want(http.StatusOK, "PATCH", path, map[string]any{
		"policy": map[string]any{"microphone": "Presenters", "camera": "Presenters", "screen": "Presenters", "chat": "Presenters"},
	})
	for _, when := range []string{"at once", "after a reload"} {
		if when != "at once" {
			eve.Reload(t)
			eve.WaitFor(t, inRoom)
			identity = testkit.Eval[string](t, eve, `opened.you.identity`)
		}
		if sent := w.a.sent(room, identity); sent != "" {
			t.Errorf("%s Eve sends %q against the policy", when, sent)
		}
		if tried := testkit.Eval[int](t, eve, defiance); tried != 9 {
			t.Fatalf("%d of 9 lies were tried", tried)
		}
		if got := callAs(t, eve, "session/chat", `{"text":"forged words"}`); got != http.StatusForbidden {
			t.Errorf("%s chat answered %d", when, got)
		}
		if sent := w.a.sent(room, identity); sent != "" || witness.Hears(identity) {
			t.Errorf("%s Eve's script sends %q", when, sent)
		}
		if witness.Others()[identity]["presenter"] == "true" {
			t.Errorf("%s Eve's script presents", when)
		}
	}
	w.a.want(http.StatusOK, "POST", path+"/announcements", map[string]any{"text": "true words"})
	first := <-witness.Data()
	for first.Topic == "convene.chat.request" { // Eve's page asks who was there before for the chat, by the gateway.
		first = <-witness.Data()
	}
	if first.Topic != "convene.notice" {
		t.Errorf("a participant reached another with %s", first.Payload)
	}

	w.a.want(http.StatusOK, "DELETE", path+"/participants/"+identity, nil)
	learns(t, witness, "Eve's removal", func() bool { return witness.Others()[identity] == nil })
	back := `new stolen.constructor().connect(opened.engine.url, opened.engine.token).then(() => 'in', () => 'refused')`
	if got := testkit.Eval[string](t, eve, back); got != "refused" {
		t.Errorf("Eve's script is %s with the access token from before", got)
	}
}
