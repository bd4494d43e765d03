// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"convene.dev/convene/internal/testkit/peer"
)

// guest does what the room page does: it enters, comes back with its session when it was disconnected, and leaves for
// good when it is told that the meeting has ended.
type guest struct {
	room, password string
	// ticket is of the link that the guest comes with, or empty.
	ticket  string
	baseURL string

	// over is closed when the guest knows that the meeting has ended, was removed, or has left.
	over  chan struct{}
	leave context.CancelFunc

	mu      sync.Mutex
	session string
	// waits says that the guest has to be let in first.
	waits bool
	// nowhere counts answers that no tenant is there.
	nowhere int
	// entries counts how often it came in; wrong is an answer that no guest should get.
	entries int
	wrong   string
	// removed says that the guest was told not to come back.
	removed bool
}

// guest has a participant enter a room and stay there until the meeting is over, leave is called, or the test ends.
func (w *world) guest(t testing.TB, room, password string) *guest {
	return w.sendIn(t, &guest{room: room, password: password})
}

func (w *world) sendIn(t testing.TB, g *guest) *guest {
	ctx, leave := context.WithCancel(context.Background())
	g.baseURL, g.over, g.leave = w.backend.baseURL, make(chan struct{}), leave
	go g.run(ctx)
	t.Cleanup(func() {
		leave()
		<-g.over
	})
	return g
}

func (g *guest) run(ctx context.Context) {
	defer close(g.over)
	leaveDoor := func() {}
	defer func() { leaveDoor() }()
	for ctx.Err() == nil {
		at, token, ended := g.ask(ctx)
		leaveDoor() // As a page does, which is in the waiting room while it asks to come in.
		if ended {
			return
		}
		leaveDoor = func() {}
		if token != "" {
			leaveDoor = g.stay(ctx, at, token)
		}
		pause(ctx, tryAgainAfter)
	}
}

// stay is in the room until it is disconnected or leaves. From a waiting room it returns what leaves that.
func (g *guest) stay(ctx context.Context, at, token string) (leaveDoor func()) {
	leaveDoor = func() {}
	joining, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p, err := peer.Join(joining, at, token)
	if err != nil {
		return leaveDoor
	}
	if !g.cameInAtLast() {
		waitAtTheDoor(ctx, p)
		return p.Close
	}
	select {
	case <-p.Disconnected():
		p.Vanish()
	case <-ctx.Done():
		p.Close()
	}
	return leaveDoor
}

// cameInAtLast counts an entry, unless the guest has to be let in first.
func (g *guest) cameInAtLast() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.waits {
		g.entries++
	}
	return !g.waits
}

// waitAtTheDoor returns when the guest may come in, or has to ask why they are disconnected.
func waitAtTheDoor(ctx context.Context, p *peer.Peer) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-p.Disconnected():
			stop()
		case <-waiting.Done():
		}
	}()
	_ = p.Until(waiting, func() bool {
		return strings.Contains(p.Metadata(), `"open":true`) || p.Attributes()["admitted"] == "true"
	})
}

// ask asks for a session. The token is empty when it has to ask again.
func (g *guest) ask(ctx context.Context) (at, token string, ended bool) {
	g.mu.Lock()
	session, been := g.session, g.entries > 0
	g.mu.Unlock()
	body, err := json.Marshal(map[string]any{"room": g.room, "name": "Ada", "password": g.password, "ticket": g.ticket, "session": session})
	if err != nil {
		panic(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.baseURL+"/session", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := connections.Do(request)
	if err != nil {
		return "", "", false
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Session, Reason, Home string
		Engine                struct{ URL, Token string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", "", false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch response.StatusCode {
	case http.StatusOK, http.StatusAccepted:
		g.session, g.waits = answer.Session, response.StatusCode == http.StatusAccepted
		return answer.Engine.URL, answer.Engine.Token, false
	case http.StatusGone:
		return "", "", true
	case http.StatusNotFound:
		if answer.Home != "" {
			return "", "", been
		}
		// No tenant is there: one replica may not know it yet. The page believes that after a minute.
		g.nowhere++
		return "", "", been && g.nowhere > 20
	case http.StatusForbidden:
		g.removed, g.wrong = answer.Reason == "NotAllowed", response.Status+" "+answer.Reason
		return "", "", g.removed
	case http.StatusServiceUnavailable, http.StatusInternalServerError:
	default:
		g.wrong = response.Status + " " + answer.Reason
	}
	return "", "", false
}

func (g *guest) isOver() bool {
	select {
	case <-g.over:
		return true
	default:
		return false
	}
}

// cameIn is how often, and what went wrong otherwise.
func (g *guest) cameIn() (entries int, wrong string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.entries, g.wrong
}

func (g *guest) wasRemoved() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.removed
}
