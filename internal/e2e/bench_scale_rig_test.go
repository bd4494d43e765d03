// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/mediaserver"
)

// scale is a manager that leads, and what it has to do with.
type scale struct {
	*testkit.Cluster
	t           *testing.T
	binary      string
	inUse, idle int
	media       *mediaserver.Server
	engine      engine.Engine
	tenants     []*scaleTenant
	leader      *testkit.ManagerProcess
	watched     *watched
	// mu guards meetings: the ones in use that have not been ended.
	mu       sync.Mutex
	meetings []*scaleMeeting
}

// scaleTenant is a namespace with a ConferenceConfig.
type scaleTenant struct{ namespace, uid, host string }

// scaleMeeting is a meeting in use.
type scaleMeeting struct {
	of         *scaleTenant
	uid        types.UID
	name, room string
}

const (
	// scaleShare bounds the meetings of a tenant.
	scaleShare = 10_000
	scaleKey   = "key-of-a-tenant-0123456789"
)

func newScale(t *testing.T, binary string, inUse, idle int) *scale {
	s := &scale{t: t, binary: binary, inUse: inUse, idle: idle, media: mediaserver.New(t)}
	s.Cluster = testkit.OwnControlPlane(t, func(e *envtest.Environment) {
		e.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", fmt.Sprint(8<<30))
	})
	s.media.Break(mediaserver.Fault{Delay: time.Millisecond})
	var err error
	if s.engine, err = livekit.New(s.Namespace, engine.Server{URL: s.media.URL, Key: s.media.Key, Secret: s.media.Secret}); err != nil {
		t.Fatal(err)
	}
	for i := range (inUse+idle-1)/scaleShare + 1 {
		s.addTenant(i)
	}
	s.watched = watchMeetings(t, s.Cluster)
	return s
}

func (s *scale) addTenant(i int) {
	of := &scaleTenant{namespace: s.NewNamespace(s.t), host: fmt.Sprintf("tenant%d.test", i)}
	config := &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: of.namespace, Name: "default"},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: "http://" + of.host, MediaRefs: testkit.MediaRefs("livekit"),
			API:      &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api", Key: "key"}}},
			Meetings: &v1alpha1.MeetingsSpec{MaxMeetings: ptr.To[int32](scaleShare)},
		},
	}
	s.Create(s.t,
		testkit.SecretFor(v1alpha1.UsedByConferenceConfig, of.namespace, "api", map[string]string{"key": scaleKey}),
		testkit.SecretFor(v1alpha1.UsedByMediaServer, of.namespace, "livekit", map[string]string{"apiKey": s.media.Key, "apiSecret": s.media.Secret}),
		testkit.MediaServer(of.namespace, s.media.URL), config)
	of.uid = string(config.UID)
	s.tenants = append(s.tenants, of)
}

func (s *scale) options() testkit.ManagerOptions {
	return testkit.ManagerOptions{Binary: s.binary, Args: []string{"--namespace=", "--leader-elect", "--leader-election-namespace", s.Namespace}}
}

// startManager returns how long it takes.
func (s *scale) startManager() time.Duration {
	began := time.Now()
	s.leader = testkit.Manager(s.t, s.Cluster, s.options())
	took := time.Since(began)
	s.media.Notify(s.t, s.webhookURL())
	return took
}

func (s *scale) webhookURL() string { return s.leader.URL + "/media-server/webhook" }

func (s *scale) call(m *testkit.ManagerProcess, of *scaleTenant, method, path string, body any) (status int, err error) {
	var encoded []byte
	if body != nil {
		if encoded, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	request, err := http.NewRequest(method, m.URL+path, bytes.NewReader(encoded))
	if err != nil {
		return 0, err
	}
	request.Host = of.host
	request.Header.Set("Authorization", scaleKey)
	response, err := benchClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// writeIdle makes the meetings that stay empty, as a manager leaves them: no manager makes 100,000 meetings in the time of a measurement.
func (s *scale) writeIdle() {
	if s.idle == 0 {
		return
	}
	s.startManager()
	of := s.tenants[0]
	testkit.Eventually(s.t, time.Minute, func() error {
		status, err := s.call(s.leader, of, http.MethodPost, "/api/v1/meeting", map[string]any{"room": "model"})
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("POST meeting answered %d", status)
		}
		return err
	})
	testkit.Eventually(s.t, time.Minute, func() error { return s.watched.phases("Active", 1) })
	var all v1alpha1.MeetingList
	if err := s.Client.List(s.t.Context(), &all, client.InNamespace(of.namespace)); err != nil {
		s.t.Fatal(err)
	}
	model := all.Items[0]
	s.leader.Stop()
	_, err := perSecond(s.idle-1, func(i int) error {
		of, room := s.tenants[i%len(s.tenants)], fmt.Sprint("idle", i)
		m := model.DeepCopy()
		m.ObjectMeta = metav1.ObjectMeta{
			Namespace: of.namespace, Name: meeting.ObjectNames("default", room)[0], Labels: model.Labels, Annotations: model.Annotations,
		}
		m.Spec.Room = room
		if err := s.Client.Create(context.Background(), m); err != nil {
			return err
		}
		m.Status = *model.Status.DeepCopy()
		m.Status.URL = "http://" + of.host + "/join/" + room
		for i := range m.Status.Conditions {
			c := &m.Status.Conditions[i]
			c.Message = string(bytes.ReplaceAll([]byte(c.Message), []byte(model.Status.URL), []byte(m.Status.URL)))
		}
		return s.Client.Status().Update(context.Background(), m)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// open has the rooms of all meetings in use made, as those do who enter first, and returns the access tokens of all who will come.
func (s *scale) open() (tokens []guest) {
	for _, m := range s.watched.made("room") {
		for _, of := range s.tenants {
			if of.namespace == m.Namespace {
				s.meetings = append(s.meetings, &scaleMeeting{of: of, uid: m.UID, name: m.Name, room: m.Spec.Room})
			}
		}
	}
	_, err := perSecond(len(s.meetings), func(i int) error {
		m := s.meetings[i-1]
		opened := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationRoomOpened, time.Now().UTC().Format(time.RFC3339))
		o := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: m.of.namespace, Name: m.name}}
		if err := s.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, []byte(opened))); err != nil {
			return err
		}
		return s.engine.Ensure(context.Background(), m.engineRoom(), engine.RoomOptions{}, engine.RoomState{})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range s.meetings {
		for range 2 + rand.IntN(9) {
			tokens = append(tokens, s.guest(m))
		}
	}
	return tokens
}

func (m *scaleMeeting) engineRoom() engine.RoomName {
	return meeting.EngineRoom(m.of.uid, string(m.uid))
}

// guest is a participant who comes.
type guest struct {
	to       *scaleMeeting
	identity string
	token    string
}

var guests struct {
	sync.Mutex
	count int
}

func (s *scale) guest(m *scaleMeeting) guest {
	guests.Lock()
	guests.count++
	g := guest{to: m, identity: fmt.Sprintf("%016x-%d", rand.Uint64(), guests.count%10)}
	guests.Unlock()
	token, err := s.engine.Grant(engine.Grant{
		Room: m.engineRoom(), Identity: engine.Identity(g.identity), Name: "Participant " + g.identity[:6], Lifetime: 5 * time.Minute,
		Traits: engine.Traits{Chat: true, Notify: true, OS: "Linux", Browser: "Chrome 156"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	g.token = token
	return g
}

// join has a guest come. A third of the guests have a camera and a microphone on.
func (s *scale) join(g guest) {
	s.watched.expect(g.to, g.identity, true)
	err := s.media.Join(g.token)
	if rand.IntN(3) == 0 && err == nil {
		err = s.media.Publish(string(g.to.engineRoom()), g.identity, mediaserver.Microphone(), mediaserver.Camera())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scale) leave(m *scaleMeeting, identity string) {
	s.watched.expect(m, identity, false)
	if err := s.media.Leave(string(m.engineRoom()), identity); err != nil {
		s.t.Fatal(err)
	}
}

// takeMeeting takes a meeting in use out of the others, to be ended. It is nil where none is left.
func (s *scale) takeMeeting() *scaleMeeting {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.meetings) - 1
	if last < 0 {
		return nil
	}
	m := s.meetings[last]
	s.meetings = s.meetings[:last]
	s.watched.forget(m)
	return m
}

// ends are the answers to DELETE.
type ends struct {
	mu    sync.Mutex
	took  []time.Duration
	later int
}

// deletes has a backend end meetings until stop is called, which waits for the last answer.
func (s *scale) deletes(perSecond int) (e *ends, stop func()) {
	e = &ends{}
	ctx, cancel := context.WithCancel(s.t.Context())
	var calls sync.WaitGroup
	calls.Go(func() {
		tick := time.NewTicker(time.Second / time.Duration(perSecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			m := s.takeMeeting()
			if m == nil {
				return
			}
			calls.Go(func() {
				began := time.Now()
				status, err := s.call(s.leader, m.of, http.MethodDelete, "/api/v1/meeting/"+m.room, nil)
				e.mu.Lock()
				defer e.mu.Unlock()
				e.took = append(e.took, time.Since(began))
				switch {
				case err != nil:
					s.t.Error(err)
				case status == http.StatusAccepted:
					e.later++
				case status != http.StatusOK:
					s.t.Errorf("DELETE meeting answered %d", status)
				}
			})
		}
	})
	return e, func() { cancel(); calls.Wait() }
}

func (s *scale) sayEnds(e *ends, aim time.Duration) {
	p50, p99 := percentiles(e.took)
	s.say("  DELETE meanwhile, p50 and p99", "%d ms, %d ms%s; %d of %d answered 202",
		p50.Milliseconds(), p99.Milliseconds(), kept(p99, aim), e.later, len(e.took))
}

// expireAt has a meeting end by its duration.
func (s *scale) expireAt(m *scaleMeeting, at time.Time) error {
	s.watched.forget(m)
	length := at.Sub(s.watched.start(m)).Round(time.Second)
	o := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: m.of.namespace, Name: m.name}}
	return s.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"duration":%q}}`, length)))
}

func (s *scale) leaseHolder() string {
	var all coordinationv1.LeaseList
	if err := s.Client.List(s.t.Context(), &all, client.InNamespace(s.Namespace)); err != nil || len(all.Items) != 1 {
		s.t.Fatalf("%d Leases, %v", len(all.Items), err)
	}
	return ptr.Deref(all.Items[0].Spec.HolderIdentity, "")
}
