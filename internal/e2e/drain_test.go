// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// TestNobodyNoticesARollingUpdate restarts both managers, one after the other, under a load of requests and with two
// people in a meeting. No request fails, and nobody drops out.
func TestNobodyNoticesARollingUpdate(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	// The drain takes longer than the balancer takes to look.
	w := newWorldOfReplicas(t, testkit.ControlPlane(t), testkit.ManagerOptions{Args: []string{"--drain-delay", "1s"}})

	join := func(name string) *testkit.Page {
		link := w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "board", "name": name, "audio": true, "video": true}).text("join")
		return testkit.Browser(t).Open(t, link)
	}
	ada, grace := join("Ada"), join("Grace")
	ada.WaitFor(t, seesAndHears("Grace"))
	grace.WaitFor(t, seesAndHears("Ada"))
	identities := w.identities(t, "board", 2)

	slowest, stop := w.slowestWrite(t), w.load(t)
	for _, m := range w.managers {
		m.Stop()
		w.eventually(t, w.balancer.Ready(1))
		m.Start(t)
		w.eventually(t, w.balancer.Ready(2))
	}
	sent, failures := stop()
	t.Logf("%d requests while both managers were restarted", sent)
	report(t, failures, slowest())

	// Both are still in as the same participants, and see each other move.
	if now := w.identities(t, "board", 2); !slices.Equal(now, identities) {
		t.Errorf("a participant dropped out and came back: %q, before %q", now, identities)
	}
	for name, page := range map[string]*testkit.Page{"Grace": ada, "Ada": grace} {
		page.WaitFor(t, seesAndHears(name))
	}
	// What is asked for now goes through new connections.
	bye := farewell(t)
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/board", map[string]any{"redirect": bye})
	ada.WaitForURL(t, bye)
	grace.WaitForURL(t, bye)
}

// identities of the people in a room, once there are so many.
func (w *world) identities(t *testing.T, room string, count int) []string {
	t.Helper()
	var all []string
	w.eventually(t, func() error {
		meetings := w.meetingsOf(t, room)
		if len(meetings) != 1 || len(meetings[0].Status.Participants) != count {
			return fmt.Errorf("meetings are %+v", meetings)
		}
		all = nil
		for _, p := range meetings[0].Status.Participants {
			all = append(all, p.Identity)
		}
		slices.Sort(all)
		return nil
	})
	return all
}

// load sends requests of all kinds until stop is called, which says how many there were and what went wrong.
func (w *world) load(t *testing.T) (stop func() (sent int64, failures []error)) {
	t.Helper()
	return w.loadOf(t, 4)
}

// loadOf is load of some clients, each of which sends one request after the other.
func (w *world) loadOf(t *testing.T, count int) (stop func() (sent int64, failures []error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	var (
		sent     atomic.Int64
		mu       sync.Mutex
		failures []error
		clients  sync.WaitGroup
	)
	for i := range count {
		clients.Go(func() {
			room := fmt.Sprint("load-", i)
			calls := [][3]string{{"GET", "stats"}, {"GET", "meetings"}, {"POST", "token", `{"username":"eve","password":"secret"}`}}
			if i%2 == 0 {
				calls = append(calls, [][3]string{
					{"POST", "meeting", `{"room":"` + room + `"}`}, {"POST", "join", `{"room":"` + room + `","name":"Eve"}`},
					{"DELETE", "meeting/" + room},
				}...)
			}
			for ctx.Err() == nil {
				for _, c := range calls {
					if err := w.a.try(c[0], "/api/v1/"+c[1], c[2]); err != nil {
						mu.Lock()
						failures = append(failures, fmt.Errorf("%s %s: %w", c[0], c[1], err))
						mu.Unlock()
						break // What was refused may have been carried out or not: the next calls cannot know.
					}
					sent.Add(1)
				}
			}
		})
	}
	return func() (int64, []error) {
		cancel()
		clients.Wait()
		return sent.Load(), failures
	}
}

// report fails the test for requests that failed, but for those that were refused while the API server was slow.
func report(t *testing.T, failures []error, slowest time.Duration) {
	t.Helper()
	for _, failure := range failures {
		if errors.Is(failure, errTryAgain) && slowest > slowWrite {
			t.Logf("%v, while the slowest write to the API server took %s", failure, slowest)
			continue
		}
		t.Errorf("a request failed: %v", failure)
	}
}

// errTryAgain is an answer 503 with Retry-After.
var errTryAgain = errors.New("503: try again")

// try is call for other goroutines than the test's.
func (a account) try(method, path, body string) error {
	request, err := http.NewRequestWithContext(context.Background(), method, a.baseURL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("authorization", a.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") != "" {
		return fmt.Errorf("%w: %s", errTryAgain, raw)
	}
	// 202 is an end that takes a while.
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusAccepted {
		return fmt.Errorf("%s: %s", response.Status, raw)
	}
	return err
}
