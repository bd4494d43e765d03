// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// inParallel does something many times, sixteen at once.
func inParallel(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				if err := do(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// TestAttackByTheObjectsOfATenant: the admin of one namespace makes as many objects as the API server takes, of all kinds and as large as they
// may be. The managers go on, and start again, and another team notices nothing.
func TestAttackByTheObjectsOfATenant(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	one, two := newTeams(t, chartsMemory.Env...)
	before := heldMemory(t, one.manager.PID())
	// holds compares what the manager holds with what it held before, and looks at the other team.
	holds := func(what string, most float64) {
		t.Helper()
		began := time.Now()
		two.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "after " + what})
		now := heldMemory(t, one.manager.PID())
		t.Logf("%s: %.0f MB, %.0f before; a meeting of another team took %s", what, now, before, time.Since(began))
		if now-before > most {
			t.Errorf("%s: %.0f MB, %.0f before", what, now, before)
		}
	}
	kubes := func(o client.Object) error { return one.kube.Create(context.Background(), o) }
	// leftOut waits until the status of one of them says that the namespace is full.
	leftOut := func(list client.ObjectList, conditions func() [][]metav1.Condition) {
		t.Helper()
		one.eventually(t, func() error {
			if err := one.Client.List(context.Background(), list, client.InNamespace(one.Namespace)); err != nil {
				return err
			}
			for _, of := range conditions() {
				if c := meta.FindStatusCondition(of, v1alpha1.ConditionReady); c != nil && c.Reason == v1alpha1.ReasonNamespaceFull {
					return nil
				}
			}
			return errors.New("no status says that the namespace is full")
		})
	}

	inParallel(t, 280, func(i int) error {
		c := one.config(fmt.Sprint("many-", i))
		c.Spec.BaseURL, c.Spec.MediaRefs = fmt.Sprintf("https://many-%d.one.example.com", i), nil
		c.Spec.API.KeySecretRefs = nil
		for k := range 16 {
			c.Spec.API.KeySecretRefs = append(c.Spec.API.KeySecretRefs, v1alpha1.SecretKeyReference{Name: fmt.Sprintf("nowhere-%d-%d", i, k), Key: "key"})
		}
		return kubes(c)
	})
	var configs v1alpha1.ConferenceConfigList
	leftOut(&configs, func() (all [][]metav1.Condition) {
		for i := range configs.Items {
			all = append(all, configs.Items[i].Status.Conditions)
		}
		return all
	})
	holds("280 ConferenceConfigs that name 16 Secrets each", 120)

	one.Secret(t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": "key", "apiSecret": strings.Repeat("s", 40)})
	var calls atomic.Int64
	hostile := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer hostile.Close()
	inParallel(t, 300, func(i int) error {
		s := testkit.MediaServer(one.Namespace, fmt.Sprint(hostile.URL, "/", i))
		s.Name = fmt.Sprint("many-", i)
		return one.Client.Create(context.Background(), s) // One who may do that, beside the admin.
	})
	var servers v1alpha1.MediaServerList
	leftOut(&servers, func() (all [][]metav1.Condition) {
		for i := range servers.Items {
			all = append(all, servers.Items[i].Status.Conditions)
		}
		return all
	})
	one.eventually(t, func() error {
		if calls.Load() == 0 {
			return errors.New("no MediaServer is asked")
		}
		return nil
	})
	had := calls.Load()
	<-time.After(10 * time.Second)
	perSecond := float64(calls.Load()-had) / 10
	t.Logf("300 MediaServers get %.0f calls a second", perSecond)
	if perSecond > 2*kube.MaxMediaServers {
		t.Errorf("300 MediaServers get %.0f calls a second", perSecond)
	}
	holds("300 MediaServers", 160)

	inParallel(t, 300, func(i int) error {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{
			Namespace: one.Namespace, Name: meeting.ObjectNames("one", fmt.Sprint("large-", i))[0], Annotations: map[string]string{"notes": strings.Repeat("n", 250<<10)},
		}}
		m.Spec.Room, m.Spec.ConfigRef.Name = fmt.Sprint("large-", i), "one"
		return kubes(m)
	})
	holds("300 Meetings with annotations of 250 KiB", 180)
	inParallel(t, 300, func(i int) error {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, Name: meeting.ObjectNames("one", fmt.Sprint("decided-", i))[0]}}
		m.Spec.Room, m.Spec.ConfigRef.Name = fmt.Sprint("decided-", i), "one"
		for k := range 1000 {
			m.Spec.Participants = append(m.Spec.Participants, v1alpha1.ParticipantDecision{Identity: fmt.Sprint(k, strings.Repeat("i", 250)), Removed: true})
		}
		return kubes(m)
	})
	var meetings v1alpha1.MeetingList
	leftOut(&meetings, func() (all [][]metav1.Condition) {
		for i := range meetings.Items {
			all = append(all, meetings.Items[i].Status.Conditions)
		}
		return all
	})
	holds("300 Meetings with 1,000 decisions", 300)

	one.manager.Stop()
	one.manager.Start(t)
	two.eventually(t, two.hasPeople("board", 1))
	holds("all of that, at a start", 300)
}

// TestAttackBySlowReaders: a client with a key asks for many meetings, over many connections, and does not read the answers.
func TestAttackBySlowReaders(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldWith(t, testkit.ControlPlane(t), chartsMemory)
	// The test writes the participants itself, and no manager leads that would correct them: another process holds the Lease.
	w.manager.Stop()
	now := metav1.Now()
	inParallel(t, 2000, func(i int) error {
		m := w.meeting(fmt.Sprint("room-", i))
		if err := w.Client.Create(context.Background(), m); err != nil {
			return err
		}
		m.Status = v1alpha1.MeetingStatus{ObservedGeneration: 1, Phase: v1alpha1.MeetingActive, StartTime: &now, ParticipantCount: 100}
		for p := range 100 {
			m.Status.Participants = append(m.Status.Participants, v1alpha1.Participant{Identity: fmt.Sprint("identity-", p), Name: fmt.Sprint("Participant ", p), JoinTime: now})
		}
		return w.Client.Status().Update(context.Background(), m)
	})
	w.startAsFollower(t)
	w.eventually(t, func() error {
		if got := w.a.call("GET", "/api/v1/stats", nil); got.body["totalRooms"] != float64(2000) {
			return fmt.Errorf("%s", got.raw)
		}
		return nil
	})
	before := heldMemory(t, w.manager.PID())
	for range 120 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.a.baseURL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "GET /api/v1/meetings HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n\r\n", conn.RemoteAddr(), w.a.key); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
	}
	w.b.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
	after := heldMemory(t, w.manager.PID())
	t.Logf("120 answers that nobody reads: %.0f MB, %.0f before", after, before)
	if after-before > 60 {
		t.Errorf("120 answers that nobody reads: %.0f MB, %.0f before", after, before)
	}
}
