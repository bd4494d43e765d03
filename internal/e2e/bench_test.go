// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit/peer"
)

// promise is what a ratio is held against.
type promise struct {
	limit float64
	least bool
}

func atMost(limit float64) promise  { return promise{limit: limit} }
func atLeast(limit float64) promise { return promise{limit: limit, least: true} }

func (p promise) String() string {
	if p.least {
		return fmt.Sprintf("≥ %g", p.limit)
	}
	return fmt.Sprintf("≤ %g", p.limit)
}

func (p promise) kept(ratio float64) bool {
	if p.least {
		return ratio >= p.limit
	}
	return ratio <= p.limit
}

// ratio prints a figure, and the figure of the same run against which the promise holds it. It fails the benchmark where the promise is not kept.
func ratio(t *testing.T, name, measured, against string, ratio float64, p promise) {
	t.Helper()
	verdict := "pass"
	if !p.kept(ratio) {
		verdict = "MISS"
		t.Errorf("%s: the ratio is %.2f, promised is %s", name, ratio, p)
	}
	fmt.Printf("%-44s %10s  %-36s %6.2f  %-6s %s\n", name, measured, against, ratio, p, verdict)
}

// absolute prints one figure and what it should be at most where nothing else is done: a slow or busy machine keeps no such promise.
func absolute(name, measured, aim string, part float64) {
	verdict := "pass"
	if part > 1 {
		verdict = "over"
	}
	fmt.Printf("%-44s %10s  %-36s %6.2f  %-6s %s\n", name, measured, aim, part, "≤ 1", verdict)
}

// TestBench prints the figures of docs/performance.md, as ratios of things measured in the same run. Its parts can be run
// alone.
func TestBench(t *testing.T) {
	w := newWorldOfOne(t)
	fmt.Printf("\n%-44s %10s  %-36s %6s  %s\n", "what", "measured", "against", "ratio", "promise")
	for _, part := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"endpoints", benchEndpoints}, {"create", benchCreate}, {"life", benchLife}, {"end", benchEnd}, {"control", benchControl}, {"memory", benchMemory},
	} {
		t.Run(part.name, func(t *testing.T) {
			w.a.t = t
			part.run(t, w)
		})
	}
}

// benchLife counts the writes of a meeting with two people, from its creation until its object is gone.
func benchLife(t *testing.T, w *world) {
	w.Kubectl(t, "patch", "confcfg", "default", "-n", w.Namespace, "--type=merge", "-p", `{"spec":{"meetings":{"ttlSecondsAfterEnded":1}}}`)
	w.eventually(t, func() error { return w.configReady("default") })
	before := w.writes(t)
	w.a.enter(map[string]any{"room": "life", "name": "Ada"})
	w.a.enter(map[string]any{"room": "life", "name": "Grace"})
	w.eventually(t, w.hasPeople("life", 2))
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/life", nil)
	w.eventually(t, func() error {
		if len(w.meetingsOf(t, "life")) > 0 {
			return errors.New("the object is still there")
		}
		return nil
	})
	writes := w.writes(t).since(before)
	its := writes.of("meetings").sum()
	ratio(t, "writes in a meeting's life, two people", fmt.Sprint(its), fmt.Sprintf("10 (config's counters: %d more)", writes.sum()-its), float64(its)/10, atMost(1))
}

// benchEnd is from DELETE until the last of two people has been told.
func benchEnd(t *testing.T, w *world) {
	var took []time.Duration
	for i := range 30 {
		room := fmt.Sprint("end", i)
		ada, _ := w.a.enter(map[string]any{"room": room, "name": "Ada"})
		grace, _ := w.a.enter(map[string]any{"room": room, "name": "Grace"})
		w.eventually(t, w.hasPeople(room, 2))
		began := time.Now()
		gone := make(chan time.Duration, 2)
		for _, p := range []*peer.Peer{ada, grace} {
			go func() { <-p.Disconnected(); gone <- time.Since(began) }()
		}
		w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
		took = append(took, max(<-gone, <-gone))
	}
	p50, p99 := percentiles(took)
	fmt.Printf("%-44s p50 %s, p99 %s\n", "DELETE until the last of two is out", p50, p99)
}

// benchControl is from a call about a participant until another one's page has been told what came of it.
func benchControl(t *testing.T, w *world) {
	name := func(extensions string) {
		w.Kubectl(t, "patch", "confcfg", "default", "-n", w.Namespace, "--type=merge", "-p", `{"spec":{"api":{"extensions":`+extensions+`}}}`)
		w.eventually(t, func() error { return w.configReady("default") })
	}
	name(`["control"]`)
	var muted, removed []time.Duration
	for i := range 30 {
		room := fmt.Sprint("control", i)
		adas, ada := w.a.enter(map[string]any{"room": room, "name": "Ada"})
		graces, _ := w.a.enter(map[string]any{"room": room, "name": "Grace"})
		if _, err := adas.Publish(t.Context(), peer.Microphone); err != nil {
			t.Fatal(err)
		}
		learns(t, graces, "Ada's microphone", func() bool { return graces.Hears(ada.You.Identity) })
		took := func(method string, body map[string]any, condition func() bool) time.Duration {
			told := make(chan error, 1)
			var at time.Time
			go func() {
				err := graces.Until(t.Context(), condition)
				at = time.Now()
				told <- err
			}()
			began := time.Now()
			w.a.want(http.StatusOK, method, "/api/v1/meeting/"+room+"/participants/"+ada.You.Identity, body)
			if err := <-told; err != nil {
				t.Fatal(err)
			}
			return at.Sub(began)
		}
		muted = append(muted, took("PATCH", map[string]any{"muted": true}, func() bool { return !graces.Hears(ada.You.Identity) }))
		removed = append(removed, took("DELETE", nil, func() bool { return graces.Others()[ada.You.Identity] == nil }))
	}
	name("null")
	for _, call := range []struct {
		name string
		took []time.Duration
	}{{"PATCH muted until another one is told", muted}, {"DELETE participant until another one is told", removed}} {
		p50, p99 := percentiles(call.took)
		absolute(call.name, p50.String(), fmt.Sprintf("300ms (p99 %s)", p99), p50.Seconds()/0.3)
	}
}

func percentiles(took []time.Duration) (p50, p99 time.Duration) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond)
}
