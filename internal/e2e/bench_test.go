// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/golang-jwt/jwt/v5"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// bareVariable makes this test binary the bare server that endpoints are measured against.
const bareVariable = "CONVENE_BENCH_BARE"

func init() {
	if address := os.Getenv(bareVariable); address != "" {
		serveBare(address)
	}
}

// serveBare answers with a fixed body of 100 bytes, at /sign with one that it signs.
func serveBare(address string) {
	body := []byte(`{"x":"` + strings.Repeat("x", 92) + `"}`)
	key := []byte(strings.Repeat("k", 32))
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, b []byte) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, body)
	})
	mux.HandleFunc("/sign", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		now := time.Now()
		signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
			"iss": "convene/ns/name", "aud": "convene/token", "sub": "ada", "jti": "0123456789", "presenter": true,
			"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		}).SignedString(key)
		if err != nil {
			panic(err)
		}
		answer(w, []byte(`{"token":"`+signed+`"}`))
	})
	panic(http.ListenAndServe(address, mux)) //nolint:gosec // on the loopback interface, for the length of a benchmark
}

func startBare(t *testing.T) (url string, pid int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	self := exec.CommandContext(t.Context(), os.Args[0])
	self.Env = append(os.Environ(), bareVariable+"="+address)
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = self.Process.Kill(); _ = self.Wait() })
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return "http://" + address, self.Process.Pid
		}
	}
}

// cpu is the processor time that a process has used.
func cpu(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, _ := strconv.ParseInt(f, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 on Linux.
}

// heldMemory is the memory that a process holds, in MB.
func heldMemory(t *testing.T, pid int) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1000
		}
	}
	return 0
}

var benchClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}

// perRequest is the server's processor time for one request, with 64 clients at once.
func perRequest(t *testing.T, pid int, method, url, key string, body any) time.Duration {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	run := func(n int) {
		var left atomic.Int64
		left.Store(int64(n))
		var clients sync.WaitGroup
		for range 64 {
			clients.Go(func() {
				for left.Add(-1) >= 0 {
					request, _ := http.NewRequest(method, url, bytes.NewReader(encoded))
					request.Header.Set("authorization", key)
					response, err := benchClient.Do(request)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
					if response.StatusCode != http.StatusOK {
						t.Errorf("%s %s answered %d", method, url, response.StatusCode)
						return
					}
				}
			})
		}
		clients.Wait()
	}
	run(2000)
	const n = 20000
	before := cpu(t, pid)
	run(n)
	return (cpu(t, pid) - before) / n
}

// perSecond is how often work is done in a second by 16 workers.
func perSecond(n int, work func(i int) error) (float64, error) {
	var next atomic.Int64
	var failed atomic.Value
	var workers sync.WaitGroup
	began := time.Now()
	for range 16 {
		workers.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := work(int(i)); err != nil {
					failed.Store(err)
					return
				}
			}
		})
	}
	workers.Wait()
	err, _ := failed.Load().(error)
	return float64(n) / time.Since(began).Seconds(), err
}

// row prints one figure, the one that it is held against, and the promise.
func row(name, measured, against string, ratio float64, promise string) {
	fmt.Printf("%-44s %14s  %-34s %6.2f  %s\n", name, measured, against, ratio, promise)
}

// TestBench prints the figures of docs/performance.md, as ratios of things measured in the same run.
func TestBench(t *testing.T) {
	log.SetLogger(logr.Discard())
	w := newWorld(t)
	fmt.Printf("\n%-44s %14s  %-34s %6s  %s\n", "what", "measured", "against", "ratio", "promise")
	benchEndpoints(t, w)
	benchCreate(t, w)
	benchLife(t, w)
	benchEnd(t, w)
	benchMemory(t, w)
}

func benchEndpoints(t *testing.T, w *world) {
	bare, barePID := startBare(t)
	for i := range 10 {
		w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": fmt.Sprint("room", i)})
	}
	floor := perRequest(t, barePID, "GET", bare, "k", nil)
	signing := perRequest(t, barePID, "POST", bare+"/sign", "k", map[string]any{"username": "ada", "password": "x"})
	api := w.a.baseURL + "/api/v1/"
	for _, e := range []struct {
		method, name string
		body         any
		floor        time.Duration
		against      string
		promise      string
	}{
		{"GET", "stats", nil, floor, "bare handler", "≤ 2"},
		{"GET", "meetings", nil, floor, "bare handler", "≤ 2 (10 rooms)"},
		{"POST", "token", map[string]any{"username": "ada", "password": "x", "presenter": true, "expire": "1h"}, signing, "bare handler that signs", "≤ 1.5"},
		{"POST", "join", map[string]any{"room": "room1", "name": "Ada", "audio": true, "video": true}, signing, "bare handler that signs", "≤ 1.5"},
	} {
		took := perRequest(t, w.manager.PID(), e.method, api+e.name, w.a.key, e.body)
		row(e.method+" "+e.name+", CPU per request", took.String(), fmt.Sprintf("%s %s", e.against, e.floor), float64(took)/float64(e.floor), e.promise)
	}
}

func benchCreate(t *testing.T, w *world) {
	const n = 3000
	elsewhere := w.NewNamespace(t) // The manager has no work with it.
	bare, err := perSecond(n, func(i int) error {
		m := w.meeting(fmt.Sprint("bare", i))
		m.Namespace = elsewhere
		return w.Client.Create(context.Background(), m)
	})
	if err != nil {
		t.Fatal(err)
	}
	through, err := perSecond(n, func(i int) error {
		request, _ := http.NewRequest("POST", w.a.baseURL+"/api/v1/meeting", strings.NewReader(fmt.Sprintf(`{"room":"load%d"}`, i)))
		request.Header.Set("authorization", w.a.key)
		response, err := benchClient.Do(request)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("POST meeting answered %s", response.Status)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	row("POST meeting, 16 workers", fmt.Sprintf("%.0f/s", through), fmt.Sprintf("client-go create %.0f/s", bare), through/bare, "≥ 0.8")
	w.deleteAll(t, "load")
}

// deleteAll takes the Meetings away whose rooms have the prefix.
func (w *world) deleteAll(t *testing.T, prefix string) {
	t.Helper()
	var all v1alpha1.MeetingList
	if err := w.Client.List(t.Context(), &all, client.InNamespace(w.Namespace)); err != nil {
		t.Fatal(err)
	}
	_, err := perSecond(len(all.Items), func(i int) error {
		m := &all.Items[i-1]
		if !strings.HasPrefix(m.Spec.Room, prefix) {
			return nil
		}
		return client.IgnoreNotFound(w.Client.Delete(context.Background(), m))
	})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 5*time.Minute, func() error {
		if err := w.Client.List(t.Context(), &all, client.InNamespace(w.Namespace)); err != nil {
			return err
		}
		if slices.ContainsFunc(all.Items, func(m v1alpha1.Meeting) bool { return strings.HasPrefix(m.Spec.Room, prefix) }) {
			return fmt.Errorf("%d Meetings are left", len(all.Items))
		}
		return nil
	})
}

// benchLife counts the writes of a meeting with two people, from its creation until its object is gone.
func benchLife(t *testing.T, w *world) {
	w.Kubectl(t, "patch", "confcfg", "default", "-n", w.Namespace, "--type=merge", "-p", `{"spec":{"meetings":{"ttlSecondsAfterEnded":1}}}`)
	watcher, err := client.NewWithWatch(w.Config, client.Options{Scheme: testkit.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := watcher.Watch(t.Context(), &v1alpha1.MeetingList{}, client.InNamespace(w.Namespace), client.MatchingFields{"spec.room": "life"})
	if err != nil {
		t.Fatal(err)
	}
	ada, _ := w.a.enter(map[string]any{"room": "life", "name": "Ada"})
	grace, _ := w.a.enter(map[string]any{"room": "life", "name": "Grace"})
	w.eventually(t, w.hasPeople("life", 2))
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/life", nil)
	<-ada.Disconnected()
	<-grace.Disconnected()
	writes := 0
	for change := range changes.ResultChan() {
		if writes++; change.Type == watch.Deleted {
			changes.Stop()
		}
	}
	row("writes in a meeting's life, two people", strconv.Itoa(writes), "promise 10", float64(writes)/10, "≤ 1")
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
	slices.Sort(took)
	fmt.Printf("%-44s p50 %s, p99 %s\n", "DELETE until the last of two is out", took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond))
}

// benchMemory holds 10,000 meetings with 10 people each.
func benchMemory(t *testing.T, w *world) {
	const n = 10_000
	empty := heldMemory(t, w.manager.PID())
	_, err := perSecond(n, func(i int) error {
		m := w.meeting(fmt.Sprint("mass", i))
		if err := w.Client.Create(context.Background(), m); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The participants are written by hand, for want of 100,000 browsers, past a manager that would correct them.
	w.manager.Stop()
	var all v1alpha1.MeetingList
	if err := w.Client.List(t.Context(), &all, client.InNamespace(w.Namespace)); err != nil {
		t.Fatal(err)
	}
	_, err = perSecond(len(all.Items), func(i int) error {
		m := &all.Items[i-1]
		m.Status.ParticipantCount = 10
		m.Status.Phase = v1alpha1.MeetingActive
		for p := range 10 {
			m.Status.Participants = append(m.Status.Participants, v1alpha1.Participant{
				Identity: fmt.Sprintf("abcdefghijklmnop-%d", p), Name: fmt.Sprint("Participant ", p), Audio: true, Video: true,
				OS: "Linux", Browser: "Chrome 156", JoinTime: metav1.Now(),
			})
		}
		return w.Client.Status().Update(context.Background(), m)
	})
	if err != nil {
		t.Fatal(err)
	}
	// One that does not lead holds them as they are: somebody else has the Lease.
	now := metav1.NowMicro()
	w.create(t, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "controllers.convene.dev"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("benchmark"), LeaseDurationSeconds: ptr.To(int32(3600)), AcquireTime: &now, RenewTime: &now,
		},
	})
	w.manager.AddArgs("--leader-elect", "--leader-election-namespace", w.Namespace)
	w.manager.Start(t)
	w.eventually(t, func() error {
		stats := w.a.call("GET", "/api/v1/stats", nil)
		if total, _ := stats.body["totalRooms"].(float64); total < n {
			return fmt.Errorf("stats are %s", stats.raw)
		}
		return nil
	})
	held := heldMemory(t, w.manager.PID())
	row("memory with 10,000 meetings of 10 people", fmt.Sprintf("%.0f MB", held), fmt.Sprintf("promise 120 MB (%.0f MB empty)", empty), held/120, "≤ 1")
	began := time.Now()
	body := w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
	fmt.Printf("%-44s %s for %.1f MB\n", "GET meetings with 10,000 meetings", time.Since(began).Round(time.Millisecond), float64(len(body.raw))/1e6)
}
