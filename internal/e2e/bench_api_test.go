// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
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
	panic(http.ListenAndServe(address, mux)) // on the loopback interface, for the length of a benchmark
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

// fewStats is what GET stats takes with ten meetings.
var fewStats time.Duration

func benchEndpoints(t *testing.T, w *world) {
	bare, barePID := startBare(t)
	for i := range 10 {
		w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": fmt.Sprint("room", i)})
	}
	floor := &loaded{pid: barePID, method: "GET", url: bare, name: "bare handler"}
	signing := &loaded{pid: barePID, method: "POST", url: bare + "/sign", body: map[string]any{"username": "ada", "password": "x"}, name: "bare handler that signs"}
	token := map[string]any{"username": "ada", "password": "x", "presenter": true, "expire": "1h"}
	join := func(room string) map[string]any {
		return map[string]any{"room": room, "name": "Ada", "audio": true, "video": true}
	}
	w.a.enter(map[string]any{"room": "room0", "name": "Grace"})
	w.eventually(t, w.hasPeople("room0", 1))
	of := func(m *testkit.ManagerProcess, method, path string, body any, name string) *loaded {
		return &loaded{pid: m.PID(), method: method, url: m.URL + "/api/v1/" + path, body: body, name: name}
	}
	fewStats = benchEndpoint(t, w, of(w.manager, "GET", "stats", nil, "GET stats, CPU per request"), floor, atMost(2))
	benchEndpoint(t, w, of(w.manager, "GET", "meetings", nil, "GET meetings, CPU per request"), floor, atMost(2))
	benchEndpoint(t, w, of(w.manager, "POST", "token", token, "POST token, CPU per request"), signing, atMost(1.5))
	benchEndpoint(t, w, of(w.manager, "POST", "join", join("room0"), "POST join, room with people"), signing, atMost(1.5))
	benchEndpoint(t, w, of(w.manager, "POST", "join", join("room1"), "POST join, nobody entered"), signing, atMost(2))
	// What it costs a replica that there is another.
	var one *testkit.ManagerProcess
	leases := w.NewNamespace(t)
	for range 2 {
		one = testkit.Manager(t, w.Cluster, testkit.ManagerOptions{
			DefaultConfig: w.Namespace + "/default", Args: []string{"--leader-elect", "--leader-election-namespace", leases},
		})
	}
	benchEndpoint(t, w, of(one, "GET", "meetings", nil, "GET meetings, of two replicas"), floor, atMost(2))
	benchEndpoint(t, w, of(one, "POST", "join", join("room0"), "POST join, of two replicas"), signing, atMost(1.5))
	benchEndpoint(t, w, of(one, "POST", "join", join("room1"), "POST join, nobody entered, of two replicas"), signing, atMost(2))
}

// loaded is a request that many clients send to a process.
type loaded struct {
	pid               int
	method, url, name string
	body              any
}

// benchEndpoint measures a request and what it is held against in turns, because the machine's speed drifts, and prints the turn with
// the middle ratio. It returns what the request took in that turn.
func benchEndpoint(t *testing.T, w *world, request, against *loaded, p promise) time.Duration {
	type turn struct{ took, least time.Duration }
	of := func(t turn) float64 { return float64(t.took) / float64(t.least) }
	turns := make([]turn, 5)
	for i := range turns {
		turns[i].least = perRequest(t, against.pid, against.method, against.url, w.a.key, against.body)
		turns[i].took = perRequest(t, request.pid, request.method, request.url, w.a.key, request.body)
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(of(a), of(b)) })
	middle := turns[len(turns)/2]
	ratio(t, request.name, middle.took.String(), fmt.Sprintf("%s %s", against.name, middle.least), of(middle), p)
	return middle.took
}

// benchCreate makes Meetings past Convene and through it, in turns, so that other work of the machine slows both. Those past Convene are followed by
// an informer, as every controller needs one: the API server has a quarter of its work with that.
func benchCreate(t *testing.T, w *world) {
	const turns, each = 12, 500
	elsewhere := w.NewNamespace(t) // The manager has no work with it.
	follower, err := cache.New(w.Config, cache.Options{Scheme: w.Client.Scheme(), DefaultNamespaces: map[string]cache.Config{elsewhere: {}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := follower.GetInformer(t.Context(), &v1alpha1.Meeting{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	go func() { _ = follower.Start(t.Context()) }()
	if !follower.WaitForCacheSync(t.Context()) {
		t.Fatal("the informer does not follow Meetings")
	}
	var bareTook, throughTook float64
	for turn := range turns {
		rate, err := perSecond(each, func(i int) error {
			m := w.meeting(fmt.Sprintf("bare%d-%d", turn, i))
			m.Namespace = elsewhere
			return w.Client.Create(context.Background(), m)
		})
		if err != nil {
			t.Fatal(err)
		}
		bareTook += each / rate
		rate, err = perSecond(each, func(i int) error { return w.postMeeting(fmt.Sprintf("load%d-%d", turn, i)) })
		if err != nil {
			t.Fatal(err)
		}
		throughTook += each / rate
	}
	bare, through := turns*each/bareTook, turns*each/throughTook
	ratio(t, "POST meeting, 16 workers", fmt.Sprintf("%.0f/s", through), fmt.Sprintf("client-go create %.0f/s", bare), through/bare, atLeast(0.8))
	w.deleteAll(t, "load")
}

func (w *world) postMeeting(room string) error {
	request, err := http.NewRequest("POST", w.a.baseURL+"/api/v1/meeting", strings.NewReader(fmt.Sprintf(`{"room":%q}`, room)))
	if err != nil {
		return err
	}
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
