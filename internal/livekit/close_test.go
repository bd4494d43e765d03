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
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
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
	join := func() error {
		if err := h.Close(wait(t), room, ""); err != nil {
			t.Fatal(err)
		}
		p, err := peer.Join(wait(t), h.URL, token)
		if err == nil {
			p.Close()
		}
		return err
	}
	err := join()
	if err == nil {
		// LiveKit writes a change of metadata into its list in the background, which on a busy machine can come after the deletion. Such a
		// room is a stray, and is closed again.
		err = join()
	}
	if err == nil {
		t.Fatal("the token still opens the room")
	}
	if refused := (*peer.RefusedError)(nil); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("error is %v, want a refusal with status 404", err)
	}
}

// front stands before a real LiveKit, notes the verbs of calls, and answers those as out of reach that it is told to.
type front struct {
	engine.Engine
	mu    sync.Mutex
	verbs []string
}

func (h house) front(t *testing.T, outOfReach func(verb string, before []string) bool) *front {
	t.Helper()
	target, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	f := &front{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		verb := path.Base(r.URL.Path)
		away := outOfReach(verb, f.verbs)
		f.verbs = append(f.verbs, verb)
		f.mu.Unlock()
		if away {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"code":"unavailable","msg":"no response from servers"}`))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.Engine = dial(t, engine.Server{URL: server.URL, Key: h.Key, Secret: h.Secret})
	return f
}

// seen returns the verbs, each once where it was used several times in a row. The last look is given up when it is time to delete:
// on a busy machine it comes here after the deletion, and does not count.
func (f *front) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	verbs := slices.Compact(slices.Clone(f.verbs))
	if n := len(verbs) - 1; n > 0 && verbs[n] == "ListParticipants" && verbs[n-1] == "DeleteRoom" {
		return verbs[:n]
	}
	return verbs
}

func inReach(string, []string) bool { return false }

// timeToLeave is what pages have to leave by themselves when a meeting has ended.
const timeToLeave = 250 * time.Millisecond

func TestCloseLooksWhoIsLeft(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	usual := []string{"UpdateRoomMetadata", "ListParticipants", "DeleteRoom"}

	empty := h.front(t, inReach)
	if err := empty.Close(wait(t), h.room(t), ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(usual, empty.verbs); diff != "" {
		t.Errorf("calls for an empty room (-want +got):\n%s", diff)
	}

	room := h.room(t)
	h.join(t, room, "stays", engine.Traits{})
	full := h.front(t, inReach)
	began := time.Now()
	if err := full.Close(wait(t), room, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(usual, full.seen()); diff != "" {
		t.Errorf("calls for a room with a participant in it (-want +got):\n%s", diff)
	}
	if took := time.Since(began); took < timeToLeave { // A slow machine takes longer, never less.
		t.Errorf("the room was deleted after %s: its pages have %s to leave by themselves", took, timeToLeave)
	}
}

// A node cannot be killed alone without Redis, so what LiveKit answers then is played here.
func TestCloseMovesARoomWhoseNodeIsGone(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{})
	f := h.front(t, func(verb string, before []string) bool {
		return verb != "CreateRoom" && !slices.Contains(before, "CreateRoom")
	})
	if err := f.Close(wait(t), room, "https://example.com/"); err != nil {
		t.Fatalf("%v after %v", err, f.seen())
	}
	h.wantNoRoom(t, room)
	reasonOf(t, p)
	if want := (announcement{Ended: true, Redirect: "https://example.com/"}); heard(p) != want {
		t.Errorf("the peer heard %v, want %v", heard(p), want)
	}
	want := []string{"UpdateRoomMetadata", "CreateRoom", "UpdateRoomMetadata", "ListParticipants", "DeleteRoom"}
	if diff := cmp.Diff(want, f.seen()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestCloseMovesARoomWhoseNodeGoesMeanwhile(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	f := h.front(t, func(verb string, before []string) bool {
		return verb == "DeleteRoom" && !slices.Contains(before, "CreateRoom")
	})
	if err := f.Close(wait(t), room, ""); err != nil {
		t.Fatalf("%v after %v", err, f.seen())
	}
	h.wantNoRoom(t, room)
	want := []string{"UpdateRoomMetadata", "ListParticipants", "DeleteRoom", "CreateRoom", "DeleteRoom"}
	if diff := cmp.Diff(want, f.seen()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestCloseOfARoomThatOnlyTheListHas(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	f := h.front(t, inReach)
	if err := f.Close(wait(t), "never-there", ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"UpdateRoomMetadata", "DeleteRoom"}, f.seen()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
