// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const patience = 30 * time.Second

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	testkit.Eventually(t, patience, func() error {
		if !is() {
			return errors.New("not yet: " + what)
		}
		return nil
	})
}

// member is a replica in a Group on a real API server.
type member struct {
	*Group
	known  atomic.Uint64
	served chan struct{}
	// hinted has the rooms that it was told of.
	hinted chan string
	// stop ends it and waits until it has ended.
	stop func()
}

// start starts a replica and waits until the others can know of it. It ends with the test.
func start(t *testing.T, c *testkit.Cluster, known uint64) *member {
	t.Helper()
	config := *c.Config
	leases, err := cache.New(&config, cache.Options{ByObject: map[client.Object]cache.ByObject{
		&coordinationv1.Lease{}: {Namespaces: map[string]cache.Config{c.Namespace: {}}, Label: Leases()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := &member{served: make(chan struct{}), hinted: make(chan string, 100)}
	m.known.Store(known)
	m.Group = New(Options{Cache: leases, Client: kubernetes.NewForConfigOrDie(&config).CoordinationV1(), Namespace: c.Namespace, Log: logr.Discard()})
	running := NewMember(m.Group, Answers{Known: m.known.Load, Served: m.served, Hinted: func(room string) { m.hinted <- room }})
	ctx, cancel := context.WithCancel(context.Background())
	watching, unwatch := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- leases.Start(watching) }()
	go func() { ended <- running.Start(ctx) }()
	var stopped atomic.Bool
	m.stop = func() {
		if !stopped.CompareAndSwap(false, true) {
			return
		}
		cancel()
		close(m.served)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		unwatch()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(m.stop)
	select {
	case <-m.Joined():
	case <-time.After(patience):
		t.Fatal("it does not join")
	}
	return m
}

func (m *member) sees(t *testing.T, others int) {
	t.Helper()
	eventually(t, "it sees the others", func() bool { return len(m.others.alive()) == others })
}

// leaseOf makes the Lease of a replica that is not one of ours.
func leaseOf(t *testing.T, c *testkit.Cluster, name, address string, renewed time.Time) *coordinationv1.Lease {
	t.Helper()
	at := metav1.NewMicroTime(renewed)
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: name, Labels: map[string]string{labelIdentity: identity},
			Annotations: map[string]string{annotationAddress: address},
		},
		Spec: coordinationv1.LeaseSpec{RenewTime: &at},
	}
	c.Create(t, l)
	return l
}

func TestReplicasLearnWhatTheOthersKnow(t *testing.T) {
	c := testkit.ControlPlane(t)
	one := start(t, c, 7)
	if got := one.Newest(t.Context()); got != 0 {
		t.Errorf("alone it learns of %d", got)
	}
	two, three := start(t, c, 5), start(t, c, 3)
	for _, m := range []*member{one, two, three} {
		m.sees(t, 2)
	}
	for m, want := range map[*member]uint64{one: 5, two: 7, three: 7} {
		if got := m.Newest(t.Context()); got != want {
			t.Errorf("a replica learns of %d, want %d", got, want)
		}
	}
	three.known.Store(11)
	if got := one.Newest(t.Context()); got != 11 {
		t.Errorf("after a change it learns of %d, want 11", got)
	}

	three.stop()
	one.sees(t, 1)
	var l coordinationv1.Lease
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: three.name}, &l); !apierrors.IsNotFound(err) {
		t.Errorf("one that has stopped leaves its Lease: %v", err)
	}
	if got := one.Newest(t.Context()); got != 5 {
		t.Errorf("after an end it learns of %d, want 5", got)
	}
}

// A replica that is stopping still serves, and so confirms, until it has drained.
func TestReplicaAnswersUntilItHasServed(t *testing.T) {
	c := testkit.ControlPlane(t)
	one, two := start(t, c, 1), start(t, c, 2)
	one.sees(t, 1)
	ended := make(chan struct{})
	served := two.served
	two.served = make(chan struct{}) // stop closes another one: it has not served yet
	go func() { two.stop(); close(ended) }()
	for range 20 {
		two.known.Add(1)
		if got, want := one.Newest(t.Context()), two.known.Load(); got != want {
			t.Fatalf("it learns of %d, want %d", got, want)
		}
	}
	close(served)
	<-ended
}

// One that hangs, and one that answers nonsense, hold up nobody and hide nothing of the others.
func TestReplicasThatDoNotAnswer(t *testing.T) {
	c := testkit.ControlPlane(t)
	one := start(t, c, 1)
	_ = start(t, c, 2)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	leaseOf(t, c, "silent", silent.Addr().String(), time.Now())
	one.sees(t, 2)
	if got := one.Newest(t.Context()); got != 2 {
		t.Errorf("beside one that hangs it learns of %d, want 2", got)
	}
	if alive := one.others.alive(); alive["silent"] != "" {
		t.Error("one that has just not answered is asked again at once")
	}
	if one.others.leaveAlone("silent", 0) {
		t.Error("the log says each time that it does not answer")
	}
	one.sees(t, 2)
}

func TestLeasesOfDeadReplicasAreRemoved(t *testing.T) {
	c := testkit.ControlPlane(t)
	old := leaseOf(t, c, "killed", "127.0.0.1:1", time.Now())
	killed := leaseOf(t, c, "killed-just-now", "127.0.0.1:1", time.Now())
	one := start(t, c, 1)
	one.sees(t, 2)
	one.seenLast("killed", leftOver+time.Second)
	one.seenLast("killed-just-now", leaseDuration)
	if len(one.others.alive()) != 0 {
		t.Error("one that does not renew its Lease is taken for alive")
	}
	one.sweep(t.Context())
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(old), old); !apierrors.IsNotFound(err) {
		t.Errorf("a Lease that has not changed for long stays: %v", err)
	}
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(killed), killed); err != nil {
		t.Errorf("the Lease of one that may live is gone: %v", err)
	}
}

// seenLast has it that a Lease was last seen to change some time ago.
func (m *member) seenLast(name string, ago time.Duration) {
	m.others.mu.Lock()
	defer m.others.mu.Unlock()
	m.others.known[name].renewed = time.Now().Add(-ago)
}

// A replica is alive while it renews its Lease, whatever time its machine writes there.
func TestClocksOfOtherReplicasDoNotMatter(t *testing.T) {
	c := testkit.ControlPlane(t)
	one := start(t, c, 1)
	for name, off := range map[string]time.Duration{"slow": -24 * time.Hour, "fast": 24 * time.Hour} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("7")) }))
		defer server.Close()
		l := leaseOf(t, c, name, strings.TrimPrefix(server.URL, "http://"), time.Now().Add(off))
		one.sees(t, 1)
		if got := one.Newest(t.Context()); got != 7 {
			t.Errorf("%s: it learns of %d, want 7", name, got)
		}
		renewed := metav1.NewMicroTime(time.Now().Add(off))
		one.seenLast(name, leaseDuration)
		l.Spec.RenewTime = &renewed
		if err := c.Client.Update(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		one.sees(t, 1)
		one.sweep(t.Context())
		if err := c.Client.Delete(t.Context(), l); err != nil {
			t.Errorf("%s: the Lease of a living replica is gone: %v", name, err)
		}
		one.sees(t, 0)
	}
}

// A Lease that the informer shows again, because it has read everything again, is no sign of life.
func TestALeaseThatIsShownAgainIsNotRenewed(t *testing.T) {
	g := New(Options{})
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: "other", UID: "1", ResourceVersion: "7", Annotations: map[string]string{annotationAddress: "127.0.0.1:1"},
	}}
	g.seen(l)
	(&member{Group: g}).seenLast("other", leaseDuration)
	g.seen(l)
	if len(g.others.alive()) != 0 {
		t.Error("it is taken for alive")
	}
	l = l.DeepCopy()
	l.ResourceVersion = "8"
	g.seen(l)
	if len(g.others.alive()) != 1 {
		t.Error("one that was renewed is not taken for alive")
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for answer, handler := range map[string]http.HandlerFunc{
		"words":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("seven")) },
		"nothing":    func(http.ResponseWriter, *http.Request) {},
		"negative":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("-1")) },
		"too much":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("1", 1<<20))) },
		"an error":   func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "7", http.StatusInternalServerError) },
		"elsewhere":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/7", http.StatusFound) },
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	} {
		t.Run(answer, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			if version, err := ask(strings.TrimPrefix(server.URL, "http://")); err == nil || version != 0 {
				t.Errorf("it is taken for %d (%v)", version, err)
			}
		})
	}
}

// An answer counts for those who came before it was asked for.
func TestRoundsBeginAfterTheirCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Uint64
		r := rounds{ask: func() uint64 {
			n := asked.Add(1)
			<-time.After(time.Second)
			return n
		}}
		got := make(chan uint64, 11)
		go func() { got <- r.newest(t.Context()) }()
		synctest.Wait() // The first round is under way.
		for range 10 {
			go func() { got <- r.newest(t.Context()) }()
		}
		if first := <-got; first != 1 {
			t.Errorf("the first caller has the answer of round %d", first)
		}
		for range 10 {
			if later := <-got; later != 2 {
				t.Errorf("a caller that came during round 1 has the answer of round %d, want 2", later)
			}
		}
		synctest.Wait()
		if asked.Load() != 2 {
			t.Errorf("%d rounds for two", asked.Load())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if late := r.newest(ctx); late != 0 {
			t.Errorf("a caller who has left has an answer: %d", late)
		}
		<-time.After(2 * time.Second)
	})
}
