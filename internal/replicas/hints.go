// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"bufio"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	hintsPath = "/hints"
	// hintPace gathers the hints of a busy moment into one request to each replica.
	hintPace = 50 * time.Millisecond
	// maxHints bounds what waits to be sent, and what one request may carry. Those beyond are dropped: a hint only makes
	// the leader look sooner.
	maxHints     = 10_000
	maxHintBytes = 4 << 20
)

// outbox holds the hints that wait to be sent to the other replicas, each once.
type outbox struct {
	mu    sync.Mutex
	rooms map[string]struct{}
	// added has one place: one signal is enough for all hints.
	added chan struct{}
}

func newOutbox() *outbox {
	return &outbox{rooms: map[string]struct{}{}, added: make(chan struct{}, 1)}
}

func (o *outbox) add(room string) {
	o.mu.Lock()
	if len(o.rooms) < maxHints {
		o.rooms[room] = struct{}{}
	}
	o.mu.Unlock()
	select {
	case o.added <- struct{}{}:
	default:
	}
}

// take empties the outbox.
func (o *outbox) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	rooms := slices.Collect(maps.Keys(o.rooms))
	clear(o.rooms)
	return rooms
}

// Hint tells the other replicas, one of them perhaps the leader, that something happened in a room. It does not wait, and the hint
// may get lost.
func (g *Group) Hint(room string) { g.outbox.add(room) }

// sendHints sends until the context ends.
func (g *Group) sendHints(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.outbox.added:
		}
		body := strings.Join(g.outbox.take(), "\n")
		var sent sync.WaitGroup
		for _, address := range g.others.alive() {
			sent.Go(func() {
				if _, err := send(ctx, http.MethodPost, "http://"+address+hintsPath, strings.NewReader(body)); err != nil {
					g.Log.V(1).Info("Another replica takes no hints", "address", address, "error", err.Error())
				}
			})
		}
		sent.Wait()
		select {
		case <-ctx.Done():
		case <-time.After(hintPace):
		}
	}
}

// receiveHints takes the hints of another replica.
func (m *Member) receiveHints(w http.ResponseWriter, r *http.Request) {
	lines := bufio.NewScanner(http.MaxBytesReader(w, r.Body, maxHintBytes))
	for lines.Scan() {
		m.Hinted(lines.Text())
	}
	if lines.Err() != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}
