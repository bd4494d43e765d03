// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// patience bounds waits. It is not a measurement.
const patience = 90 * time.Second

// world is a manager whose ways to the API server and to LiveKit lead through proxies.
type world struct {
	*testkit.Cluster
	livekit *testkit.LiveKitServer
	// kubernetes and media are the proxies.
	kubernetes, media *testkit.Proxy
	// mediaURL leads through the proxy, as ConferenceConfigs write it.
	mediaURL string
	// kubeconfig leads through the proxy.
	kubeconfig string
	manager    *testkit.ManagerProcess
	backend    backend
	config     *v1alpha1.ConferenceConfig
	history    *history
	// reads is done to what the manager reads from the API server while a story is told.
	reads  func(*http.Request) testkit.Fault
	engine engine.Engine
}

// options of a world.
type options struct {
	// address of the gateway; empty means a free one. A test that gives one starts the managers.
	address string
	// change the ConferenceConfig before it is created.
	change func(*v1alpha1.ConferenceConfig)
	// keys of LiveKit's API beside the world's own, each with its secret.
	keys map[string]string
	// args are further flags of the manager.
	args []string
}

func newWorld(t *testing.T, cluster *testkit.Cluster, o options) *world {
	t.Helper()
	w := &world{Cluster: cluster}
	own := o.address == ""
	if own {
		ports, err := devstack.RandomPorts(1)
		if err != nil {
			t.Fatal(err)
		}
		o.address = fmt.Sprintf("127.0.0.1:%d", ports[0])
	}
	w.livekit = testkit.LiveKit(t, testkit.LiveKitOptions{WebhookURLs: []string{"http://" + o.address + "/media-server/webhook"}, MoreKeys: o.keys})
	w.media = testkit.HTTPProxy(t, w.livekit.URL)
	w.mediaURL = w.media.URL
	var err error
	if w.engine, err = livekit.New("media", engine.Server{URL: w.livekit.URL, Key: w.livekit.Key, Secret: w.livekit.Secret}); err != nil {
		t.Fatal(err)
	}
	w.backend = backend{baseURL: "http://" + o.address, key: "key-of-the-backend-0123456789"}
	w.Secret(t, v1alpha1.UsedByConferenceConfig, "api", map[string]string{"key": w.backend.key})
	w.Secret(t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": w.livekit.Key, "apiSecret": w.livekit.Secret})
	w.config = w.newConfig("default", w.backend.baseURL)
	if o.change != nil {
		o.change(w.config)
	}
	w.history = watchHistory(t, w)
	w.Create(t, testkit.MediaServer(w.Namespace, w.mediaURL), w.config)
	w.kubernetes, w.kubeconfig = w.APIServerProxy(t)
	if own {
		w.manager = testkit.Manager(t, w.Cluster, testkit.ManagerOptions{
			Kubeconfig: w.kubeconfig, DefaultConfig: w.Namespace + "/default", Addresses: []string{o.address}, Args: o.args,
		})
		w.eventually(t, w.configServes("default"))
	}
	return w
}

// newConfig is a tenant whose meetings are over soon after they end.
func (w *world) newConfig(name, baseURL string) *v1alpha1.ConferenceConfig {
	return &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: baseURL,
			API: &v1alpha1.APISpec{
				KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api", Key: "key"}}, Extensions: []string{"control"},
			},
			MediaRefs: testkit.MediaRefs("livekit"),
			Meetings: &v1alpha1.MeetingsSpec{
				TTLSecondsAfterEnded: ptr.To(int32(1)),
				EmptyTimeout:         &metav1.Duration{Duration: 2 * time.Second},
				LinkLifetime:         &metav1.Duration{Duration: time.Second},
			},
		},
	}
}

// byHand is a Meeting as people make it with kubectl.
func (w *world) byHand(name string, change ...func(*v1alpha1.Meeting)) *v1alpha1.Meeting {
	m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, Spec: v1alpha1.MeetingSpec{Room: name}}
	m.Spec.ConfigRef.Name = "default"
	for _, f := range change {
		f(m)
	}
	return m
}

func (w *world) patch(t testing.TB, o client.Object, text string) {
	t.Helper()
	if err := w.Client.Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

func (w *world) eventually(t testing.TB, check func() error) {
	t.Helper()
	testkit.Eventually(t, patience, check)
}

func (w *world) getConfig(name string) (*v1alpha1.ConferenceConfig, error) {
	var c v1alpha1.ConferenceConfig
	return &c, w.Client.Get(context.Background(), client.ObjectKey{Namespace: w.Namespace, Name: name}, &c)
}

// configServes says what keeps a ConferenceConfig from being Ready and known as it is.
func (w *world) configServes(name string) func() error {
	return func() error {
		c, err := w.getConfig(name)
		if err != nil {
			return err
		}
		for _, condition := range c.Status.Conditions {
			if condition.Type == v1alpha1.ConditionReady && condition.Status == metav1.ConditionTrue && c.Status.ObservedGeneration == c.Generation {
				return nil
			}
		}
		return fmt.Errorf("the config is not ready: %+v", c.Status)
	}
}

// meetings of the namespace, by the API server itself.
func (w *world) meetings() ([]v1alpha1.Meeting, error) {
	var all v1alpha1.MeetingList
	err := w.Client.List(context.Background(), &all, client.InNamespace(w.Namespace))
	return all.Items, err
}

// ofRoom is the Meeting of a room that is not over.
func (w *world) ofRoom(room string) (*v1alpha1.Meeting, error) {
	all, err := w.meetings()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Spec.Room == room && !meeting.IsOver(&all[i]) {
			return &all[i], nil
		}
	}
	return nil, errors.New("no live meeting")
}

// occupied waits until a room's status counts n people.
func (w *world) occupied(room string, n int32) func() error {
	return func() error {
		m, err := w.ofRoom(room)
		if err == nil && (m.Status.Phase != v1alpha1.MeetingActive || m.Status.ParticipantCount != n) {
			err = fmt.Errorf("%s is %s with %d people, want %d", room, m.Status.Phase, m.Status.ParticipantCount, n)
		}
		return err
	}
}

// noneLeft says what is left of meetings: objects, rooms, counts.
func (w *world) noneLeft() error {
	all, err := w.meetings()
	if err != nil {
		return err
	}
	if len(all) > 0 {
		return fmt.Errorf("%d Meetings are left: %+v", len(all), all[0].Status)
	}
	return w.quiet()
}

// quiet says which rooms belong to no live Meeting, and which counts are behind.
func (w *world) quiet() error {
	all, err := w.meetings()
	if err != nil {
		return err
	}
	live := map[engine.RoomName]bool{}
	var rooms, people int32
	for i := range all {
		if m := &all[i]; !meeting.IsOver(m) {
			live[meeting.EngineRoom(string(w.config.UID), string(m.UID))] = true
			rooms++
			people += m.Status.ParticipantCount
		}
	}
	found, err := w.engine.Rooms(context.Background(), meeting.AllRooms)
	if err != nil {
		return err
	}
	for _, room := range found {
		if !live[room.Name] {
			return fmt.Errorf("a room is left over: %+v", room)
		}
	}
	c, err := w.getConfig("default")
	if err == nil && (c.Status.Meetings != rooms || c.Status.Participants != people) {
		err = fmt.Errorf("the config counts %d meetings with %d people, there are %d with %d", c.Status.Meetings, c.Status.Participants, rooms, people)
	}
	return err
}
