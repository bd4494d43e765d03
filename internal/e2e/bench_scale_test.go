// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// TestScale measures a leader with thousands of meetings: a real API server, and a stand-in for LiveKit, because no machine has the browsers.
// CONVENE_SCALE has the sizes, each as IN_USE or IN_USE+IDLE, and CONVENE_SCALE_MANAGERS the managers that are measured one after another.
func TestScale(t *testing.T) {
	managers := strings.Fields(os.Getenv("CONVENE_SCALE_MANAGERS"))
	if len(managers) == 0 {
		managers = []string{""}
	}
	for _, size := range strings.Fields(cmp.Or(os.Getenv("CONVENE_SCALE"), "1000")) {
		inUse, idle := 0, 0
		if n, _ := fmt.Sscanf(size, "%d+%d", &inUse, &idle); n == 0 {
			t.Fatalf("CONVENE_SCALE has %q: write IN_USE or IN_USE+IDLE", size)
		}
		for _, binary := range managers {
			t.Run(size+" "+filepath.Base(binary), func(t *testing.T) {
				newScale(t, binary, inUse, idle).measure()
			})
		}
	}
}

// measure goes through all that is measured, and prints it.
func (s *scale) measure() {
	s.writeIdle()
	s.say("start until ready", "%.1f s", s.startManager().Seconds())
	s.create()
	s.arrive()
	s.rest()
	s.read()
	s.changes("with webhooks", goal{shown: 3 * time.Second})
	s.media.Notify(s.t)
	s.changes("without webhooks", goal{shown: 3 * time.Second})
	s.media.Notify(s.t, s.webhookURL())
	s.expire()
	s.killLeader()
}

// say prints a figure.
func (s *scale) say(what, format string, args ...any) {
	fmt.Printf("%-56s %s\n", what, fmt.Sprintf(format, args...))
}

// create makes the meetings that will be in use through the API.
func (s *scale) create() {
	rate, err := perSecond(s.inUse, func(i int) error {
		of := s.tenants[i%len(s.tenants)]
		status, err := s.call(s.leader, of, http.MethodPost, "/api/v1/meeting", map[string]any{"room": fmt.Sprint("room", i)})
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("POST meeting answered %d", status)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	made := time.Now()
	testkit.Eventually(s.t, 20*time.Minute, func() error { return s.watched.phases("Active", s.inUse+s.idle) })
	s.say("POST meeting", "%.0f a second", rate)
	s.say("first statuses complete after the last create", "%.1f s", time.Since(made).Seconds())
}

// arrive has everybody come at once.
func (s *scale) arrive() {
	tokens := s.open()
	began := time.Now()
	for _, token := range tokens {
		s.join(token)
	}
	testkit.Eventually(s.t, 20*time.Minute, s.watched.allShown)
	s.say(fmt.Sprintf("%d participants arrive at once until all are shown", len(tokens)), "%.1f s", time.Since(began).Seconds())
	s.watched.took()
}

// rest measures the cost of a leader while nothing happens.
func (s *scale) rest() {
	const settles, lasts = 20 * time.Second, time.Minute
	<-time.After(settles)
	pid := s.leader.PID()
	forgetPeak(s.t, pid)
	before := cpu(s.t, pid)
	<-time.After(lasts)
	s.say("idle: processor, for a minute", "%.0f %% of a core", 100*(cpu(s.t, pid)-before).Seconds()/lasts.Seconds())
	s.say("resident memory, now and at most in that minute", "%.0f MB, %.0f MB", heldMemory(s.t, pid), peakMemory(s.t, pid))
}

// read measures the reads of a backend.
func (s *scale) read() {
	for _, path := range []string{"/api/v1/meetings", "/api/v1/stats"} {
		var took []time.Duration
		for range 20 {
			began := time.Now()
			if status, err := s.call(s.leader, s.tenants[0], http.MethodGet, path, nil); err != nil || status != http.StatusOK {
				s.t.Fatalf("GET %s: %d, %v", path, status, err)
			}
			took = append(took, time.Since(began))
		}
		p50, p99 := percentiles(took)
		s.say("GET "+path+" of one tenant, p50 and p99", "%.1f ms, %.1f ms", p50.Seconds()*1000, p99.Seconds()*1000)
	}
}

// goal has the aims of a measurement; zero is no aim.
type goal struct{ shown time.Duration }

// changes has 100 participants a second come or leave, while a backend ends five meetings a second.
func (s *scale) changes(how string, g goal) {
	const lasts, perSecond = 30 * time.Second, 100
	ends, stop := s.deletes(5)
	pid := s.leader.PID()
	before, began := cpu(s.t, pid), time.Now()
	tick := time.NewTicker(time.Second / perSecond)
	for time.Since(began) < lasts {
		<-tick.C
		m := s.meetings[rand.IntN(len(s.meetings))]
		if people := s.watched.people(m); len(people) > 8 || len(people) > 2 && rand.IntN(2) == 0 {
			s.leave(m, people[rand.IntN(len(people))])
		} else {
			s.join(s.guest(m))
		}
	}
	tick.Stop()
	used := 100 * (cpu(s.t, pid) - before).Seconds() / time.Since(began).Seconds()
	stop()
	testkit.Eventually(s.t, 10*time.Minute, s.watched.allShown)
	p50, p99 := percentiles(s.watched.took())
	s.say("100 changes a second, "+how+": processor", "%.0f %% of a core", used)
	s.say("  shown after, p50 and p99", "%.1f s, %.1f s%s", p50.Seconds(), p99.Seconds(), kept(p99, g.shown))
	s.sayEnds(ends, 0)
}

// expire has many meetings end in one second, while a backend ends two others a second.
func (s *scale) expire() {
	n := min(1000, len(s.meetings)/2)
	expiring := s.meetings[:n]
	s.meetings = s.meetings[n:]
	at := time.Now().Add(45 * time.Second).Truncate(time.Second)
	if _, err := perSecond(n, func(i int) error { return s.expireAt(expiring[i-1], at) }); err != nil {
		s.t.Fatal(err)
	}
	<-time.After(time.Until(at))
	ends, stop := s.deletes(2)
	testkit.Eventually(s.t, 20*time.Minute, func() error { return s.watched.ended(expiring) })
	took := time.Since(at)
	stop()
	s.say(fmt.Sprintf("%d meetings expire in one second: all have ended", n), "%.1f s%s", took.Seconds(), kept(took, 20*time.Second))
	s.sayEnds(ends, 1500*time.Millisecond)
}

// killLeader measures how soon another manager does the work of a leader that was killed.
func (s *scale) killLeader() {
	next := testkit.Manager(s.t, s.Cluster, s.options())
	holder := s.leaseHolder()
	s.leader.Kill()
	began := time.Now()
	s.media.Notify(s.t, next.URL+"/media-server/webhook")
	for _, m := range s.meetings[:min(len(s.meetings)/2, 1000)] {
		s.join(s.guest(m))
	}
	testkit.Eventually(s.t, time.Minute, func() error {
		if now := s.leaseHolder(); now == holder {
			return fmt.Errorf("%s still leads", now)
		}
		return nil
	})
	s.say("the leader is killed: another one has the Lease after", "%.1f s", time.Since(began).Seconds())
	s.leader = next
	testkit.Eventually(s.t, 5*time.Minute, func() error {
		m := s.takeMeeting()
		status, err := s.call(next, m.of, http.MethodDelete, "/api/v1/meeting/"+m.room, nil)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("DELETE meeting answered %d", status)
		}
		return err
	})
	took := time.Since(began)
	s.say("  an end is complete after", "%.1f s%s", took.Seconds(), kept(took, 20*time.Second))
	testkit.Eventually(s.t, 5*time.Minute, s.watched.allShown)
	s.say("  who has come meanwhile is shown after", "%.1f s", time.Since(began).Seconds())
}

func kept(took, aim time.Duration) string {
	switch {
	case aim == 0:
		return ""
	case took <= aim:
		return fmt.Sprintf(" (aim %s: pass)", aim)
	}
	return fmt.Sprintf(" (aim %s: MISS)", aim)
}
