// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"sync"
	"testing"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
	"github.com/google/go-cmp/cmp"
)

type announcement struct {
	Ended    bool
	Redirect string
}

func heard(p *peer.Peer) announcement {
	var a announcement
	_ = json.Unmarshal([]byte(p.Metadata()), &a)
	return a
}

func (h house) wantNoRoom(t *testing.T, room engine.RoomName) {
	t.Helper()
	rooms, err := h.Rooms(wait(t), room)
	if err != nil || len(rooms) != 0 {
		t.Errorf("rooms are %v with error %v, want none", rooms, err)
	}
}

func TestCloseTellsBeforeItDeletes(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	const thanks = "https://example.com/thanks?a=1&b=2"
	peers := []*peer.Peer{
		h.join(t, room, "one", engine.Traits{}), h.join(t, room, "two", engine.Traits{}),
		h.join(t, room, "watcher", engine.Traits{Hidden: true}),
	}
	if err := h.Close(wait(t), room, thanks); err != nil {
		t.Fatal(err)
	}
	for i, p := range peers {
		if reason := reasonOf(t, p); reason != "ROOM_DELETED" {
			t.Errorf("peer %d: reason is %s, want ROOM_DELETED", i, reason)
		}
		// Nothing is heard after the disconnect, so this was heard before it.
		if diff := cmp.Diff(announcement{Ended: true, Redirect: thanks}, heard(p)); diff != "" {
			t.Errorf("peer %d: announcement (-want +got):\n%s", i, diff)
		}
	}
	h.wantNoRoom(t, room)
}

func TestCloseLetsPagesLeaveByThemselves(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{})
	closed := make(chan error, 1)
	go func() { closed <- h.Close(t.Context(), room, "") }()
	until(t, p, "the peer hears of the end", func() bool { return heard(p).Ended })
	p.Close()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	h.wantNoRoom(t, room)
}

func TestCloseTwiceAndOfNothing(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	for _, room := range []engine.RoomName{room, room, "never-there"} {
		if err := h.Close(wait(t), room, ""); err != nil {
			t.Errorf("closing %s: %v", room, err)
		}
	}
}

func TestNobodyEntersAClosedRoom(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	token := h.grant(t, room, "late", engine.Traits{})
	if err := h.Close(wait(t), room, ""); err != nil {
		t.Fatal(err)
	}
	p, err := peer.Join(wait(t), h.URL, token)
	if err == nil {
		p.Close()
		t.Fatal("the token still opens the room")
	}
	if refused := (*peer.RefusedError)(nil); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("error is %v, want a refusal with status 404", err)
	}
}

// deadNode stands in front of a real LiveKit and behaves as one does whose node for every room was killed, until that
// room is created again: a node cannot be killed alone without Redis.
func deadNode(t *testing.T, behind string) (_ *httptest.Server, verbs func() []string) {
	t.Helper()
	target, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var mu sync.Mutex
	var seen []string
	moved := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		verb := path.Base(r.URL.Path)
		seen = append(seen, verb)
		moved = moved || verb == "CreateRoom"
		dead := !moved && (verb == "UpdateRoomMetadata" || verb == "DeleteRoom")
		mu.Unlock()
		if dead {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"code":"unavailable","msg":"no response from servers"}`))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

func TestCloseMovesARoomWhoseNodeIsGone(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{})
	front, verbs := deadNode(t, h.URL)
	e := dial(t, engine.Server{URL: front.URL, Key: h.Key, Secret: h.Secret})
	if err := e.Close(wait(t), room, "https://example.com/"); err != nil {
		t.Fatalf("%v after %v", err, verbs())
	}
	h.wantNoRoom(t, room)
	reasonOf(t, p)
	if want := (announcement{Ended: true, Redirect: "https://example.com/"}); heard(p) != want {
		t.Errorf("the peer heard %v, want %v", heard(p), want)
	}
	if diff := cmp.Diff([]string{"UpdateRoomMetadata", "CreateRoom", "UpdateRoomMetadata"}, verbs()[:3]); diff != "" {
		t.Errorf("verbs (-want +got):\n%s", diff)
	}
}
