// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

var monday = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// machine has a clock, and talks to an API server whose clock can be set.
type machine struct {
	*Clock
	t *testing.T
	// truth is the time that has passed, serverOff how far the API server's clock is off.
	truth, serverOff time.Duration
	jumps            int
}

// newMachine makes a machine whose clock is so far off.
func newMachine(t *testing.T, off time.Duration) *machine {
	m := &machine{t: t}
	m.Clock = &Clock{began: monday.Add(off), monotonic: func() time.Duration { return m.truth }}
	m.OnJump(func() { m.jumps++ })
	return m
}

// talk lets time pass, with an answer of the API server every two seconds, as a leader has when it renews its Lease.
func (m *machine) talk(d time.Duration) {
	for range d / (2 * time.Second) {
		m.truth += 1900 * time.Millisecond
		sent := m.truth
		m.truth += 100 * time.Millisecond
		if jumped := m.heard(sent, m.truth, monday.Add(m.truth-70*time.Millisecond+m.serverOff).Truncate(time.Second)); jumped != nil {
			jumped()
		}
	}
}

// is holds the clock against the cluster's: never more than the tolerance early, never more than late late.
func (m *machine) is(reason string, late time.Duration) {
	m.t.Helper()
	cluster := monday.Add(m.truth + m.serverOff)
	if now := m.Now(); now.After(cluster.Add(clockTolerance)) || now.Before(cluster.Add(-late)) {
		m.t.Errorf("%s: it is %s, and in the cluster %s", reason, now.Format(time.TimeOnly), cluster.Format(time.TimeOnly))
	}
}

// A machine whose clock is wrong from the start hears so with the first answer.
func TestWallClockIsWrong(t *testing.T) {
	for _, off := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		m := newMachine(t, off)
		if now := m.Now(); !now.Equal(monday.Add(off)) {
			t.Errorf("without an answer it is %s", now)
		}
		m.talk(2 * time.Second)
		m.is("after one answer", 2*time.Second)
		m.talk(time.Minute)
		m.is("after many", time.Second)
	}
}

// The cluster's clock is set: that is the time then, with the next answer.
func TestClusterClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		m := newMachine(t, 0)
		m.talk(time.Minute)
		m.serverOff = jump
		m.talk(2 * time.Second)
		m.is("the cluster's clock jumped by "+jump.String(), 2*time.Second)
		if m.jumps != 1 {
			t.Errorf("after a jump by %s, %d were told of", jump, m.jumps)
		}
	}
}

// Clocks that go at slightly different speeds agree for ever.
func TestDrift(t *testing.T) {
	m := newMachine(t, 0)
	for range 24 * 60 {
		m.talk(time.Minute)
		m.serverOff += 6 * time.Millisecond // 100 ppm
		m.is("drifting", time.Second+clockTolerance)
	}
	if m.jumps > 0 {
		t.Errorf("%d jumps were told of", m.jumps)
	}
}

// Two API servers answer in turns, and their clocks are two seconds apart. The Clock follows one of them. When that one is gone,
// it follows the other.
func TestAPIServersWhoseClocksDiffer(t *testing.T) {
	for _, wallOff := range []time.Duration{0, 10 * time.Minute} {
		m := newMachine(t, wallOff)
		m.talk(time.Minute)
		off := m.Now().Sub(monday.Add(m.truth))
		for range 60 {
			m.serverOff = 2*time.Second - m.serverOff
			m.talk(2 * time.Second)
			if now := m.Now().Sub(monday.Add(m.truth)); (now - off).Abs() > clockTolerance {
				t.Fatalf("time went %s ahead of a clock that goes evenly", now-off)
			}
		}
		m.serverOff = 2 * time.Second
		m.talk(2 * clockSettle)
		m.is("only the other answers", time.Second)
	}
}

func TestTransport(t *testing.T) {
	const off = 10 * time.Minute
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
	}))
	defer server.Close()
	c := NewClock()
	if before := c.Now(); time.Until(before).Abs() > time.Minute {
		t.Errorf("before it has heard anything it is %s", before)
	}
	client := &http.Client{Transport: c.Transport(http.DefaultTransport)}
	response, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if now := time.Until(c.Now()); now < off-time.Minute || now > off {
		t.Errorf("it is %s ahead, and the server %s", now, off)
	}
	server.Close()
	if response, err := client.Get(server.URL); err == nil {
		_ = response.Body.Close()
		t.Error("a server that is gone answers")
	}
}
