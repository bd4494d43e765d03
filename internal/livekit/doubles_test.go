// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/webhook"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/mediaserver"
	"convene.dev/convene/internal/testkit/peer"
)

// listener takes webhooks that are signed with the key.
type listener struct {
	url string
	// keys has the key, as soon as it is known.
	keys   chan auth.KeyProvider
	events chan *lk.WebhookEvent
}

func listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{keys: make(chan auth.KeyProvider, 1), events: make(chan *lk.WebhookEvent, 100)}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		keys := <-l.keys
		l.keys <- keys
		event, err := webhook.ReceiveWebhookEvent(r, keys)
		if err != nil {
			t.Error(err)
			return
		}
		l.events <- event
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// until returns one line for each event until a certain event comes.
func (l *listener) until(t *testing.T, last string) (lines []string) {
	t.Helper()
	for {
		select {
		case e := <-l.events:
			lines = append(lines, fmt.Sprintf("%s room %t in, who %s, %d tracks, track %s, id %t, time %t", e.GetEvent(), e.GetRoom().GetName() != "",
				e.GetParticipant().GetIdentity(), len(e.GetParticipant().GetTracks()), e.GetTrack().GetSource(), e.GetId() != "", e.GetCreatedAt() > 0))
			if e.GetEvent() == last {
				return lines
			}
		case <-time.After(patience):
			t.Fatalf("no webhook of %s comes; there were %q", last, lines)
		}
	}
}

// TestMediaServerTellsWhatLiveKitTells by webhook, of a participant who comes, sends, stops and leaves.
func TestMediaServerTellsWhatLiveKitTells(t *testing.T) {
	const room = "m-1"
	told := func(l *listener, e engine.Engine, join, publish, leave func()) (lines []string) {
		t.Helper()
		if err := e.Ensure(wait(t), room, engine.RoomOptions{}, engine.RoomState{}); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l.until(t, webhook.EventRoomStarted)...)
		join()
		lines = append(lines, l.until(t, webhook.EventParticipantJoined)...)
		publish()
		lines = append(lines, l.until(t, webhook.EventTrackPublished)...)
		leave()
		lines = append(lines, l.until(t, webhook.EventParticipantLeft)...)
		if err := e.Close(wait(t), room, ""); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l.until(t, webhook.EventRoomFinished)...)
		slices.Sort(lines) // Neither promises an order.
		return lines
	}
	genuine := listen(t)
	h := open(t, testkit.LiveKitOptions{WebhookURLs: []string{genuine.url}})
	genuine.keys <- auth.NewSimpleKeyProvider(h.Key, h.Secret)
	var anna *peer.Peer
	want := told(genuine, h.Engine, func() { anna = h.join(t, room, "anna", engine.Traits{}) }, func() {
		if _, err := anna.Publish(wait(t), peer.Microphone); err != nil {
			t.Fatal(err)
		}
	}, func() { anna.Close() })

	double, plain := listen(t), mediaserver.New(t)
	double.keys <- auth.NewSimpleKeyProvider(plain.Key, plain.Secret)
	plain.Notify(t, double.url)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	e := dialMediaServer(t, plain)
	token, err := e.Grant(engine.Grant{Room: room, Identity: "anna", Lifetime: time.Minute})
	must(err)
	got := told(double, e, func() { must(plain.Join(token)) }, func() { must(plain.Publish(room, "anna", mediaserver.Microphone())) },
		func() { must(plain.Leave(room, "anna")) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("webhooks of package mediaserver (-LiveKit +double)\n%s", diff)
	}
}
