// SPDX-License-Identifier: Apache-2.0

//go:build slow

package observer

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/mediaserver"
)

// watched is an observer of a media server with many rooms, all in use, over HTTP.
type watched struct {
	*Observer
	*mediaserver.Server
	media *tenant.Media
	names []engine.RoomName

	mu   sync.Mutex
	away int
}

func watchMany(t *testing.T, rooms int, fault mediaserver.Fault) *watched {
	t.Helper()
	w := &watched{Server: mediaserver.New(t)}
	server := engine.Server{URL: w.URL, Key: w.Key, Secret: w.Secret}
	e, err := livekit.New("media", server)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rooms {
		w.names = append(w.names, roomName("a", fmt.Sprintf("m%05d", i)))
		w.Fill(string(w.names[i]), mediaserver.Person("anna", time.Now()), mediaserver.Person("bob", time.Now()))
	}
	w.Break(fault)
	w.media = &tenant.Media{Server: server, Engine: e}
	tenants := &looker{tenants: []*tenant.Tenant{{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "a"}, UID: "a", Media: []*tenant.Media{w.media}}}}
	options := quiet(tenants)
	options.ReachChanged = func(types.NamespacedName) {
		if _, err := w.Reach(server); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.away++
		}
	}
	w.Observer = New(options)
	ctx, stop := context.WithCancel(context.Background())
	var runs sync.WaitGroup
	runs.Go(func() { _ = w.Start(ctx) })
	t.Cleanup(func() { stop(); runs.Wait() })
	return w
}

// unseen counts the rooms that have not been looked into.
func (w *watched) unseen() (n int) {
	for _, name := range w.names {
		if seen := w.Seen(w.media, name); !seen.Known || len(seen.Participants) != 2 {
			n++
		}
	}
	return n
}

func (w *watched) waitUntilAllAreSeen(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	testkit.Eventually(t, time.Minute, func() error {
		if n := w.unseen(); n > 0 {
			return fmt.Errorf("%d rooms have not been seen", n)
		}
		return nil
	})
	return time.Since(began)
}

// All rooms are seen over HTTP, with answers that take a time and some that never come, and a list of thousands of rooms.
func TestManyRoomsOverHTTP(t *testing.T) {
	w := watchMany(t, 3000, mediaserver.Fault{Delay: 5 * time.Millisecond, Lose: 500})
	t.Logf("3,000 rooms are seen after %s, with %d calls", w.waitUntilAllAreSeen(t), w.Calls(""))
}

// A media server that refuses most calls is not away, and all its rooms are seen in the end.
func TestManyRoomsOfAServerWithALimit(t *testing.T) {
	w := watchMany(t, 200, mediaserver.Fault{Limit: 50})
	t.Logf("200 rooms are seen after %s, with %d calls", w.waitUntilAllAreSeen(t), w.Calls(""))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away > 0 {
		t.Errorf("it was away %d times", w.away)
	}
}
