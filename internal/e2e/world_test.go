// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// patience bounds waits. It is not a measurement.
const patience = 30 * time.Second

// world is managers with two tenants, A and B, and a LiveKit.
type world struct {
	*testkit.Cluster
	// managers are behind a balancer if there are several. manager is the only one, or nil: of several, any can be the leader.
	managers []*testkit.ManagerProcess
	manager  *testkit.ManagerProcess
	// balancer is before several managers, else nil.
	balancer *testkit.Balancer
	livekit  *testkit.LiveKitServer
	a, b     account
}

// account is how a backend reaches a tenant.
type account struct {
	t            testing.TB
	baseURL, key string
	// client of the page's own requests; nil is http.DefaultClient.
	client *http.Client
}

// clientFrom sends from an address; nil is any.
func clientFrom(from net.Addr) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: from}).DialContext, DisableKeepAlives: true}}
}

// replicas is how many managers a world has unless a test asks for one.
const replicas = 2

// newWorld starts everything, with two managers: each request goes to the next of them. The configs can be changed before they
// are created.
func newWorld(t *testing.T, change ...func(a, b *v1alpha1.ConferenceConfig)) *world {
	t.Helper()
	return newWorldOn(t, testkit.ControlPlane(t), change...)
}

// newWorldOn is newWorld on a control plane that may be broken.
func newWorldOn(t *testing.T, cluster *testkit.Cluster, change ...func(a, b *v1alpha1.ConferenceConfig)) *world {
	t.Helper()
	return newWorldOfReplicas(t, cluster, testkit.ManagerOptions{}, change...)
}

// newWorldOfReplicas is newWorldOn with managers which some options are set of.
func newWorldOfReplicas(t *testing.T, cluster *testkit.Cluster, o testkit.ManagerOptions, change ...func(a, b *v1alpha1.ConferenceConfig)) *world {
	t.Helper()
	w, where := prepareWorld(t, cluster, change...)
	o.Addresses, o.DefaultConfig = where.Addresses, where.DefaultConfig
	var managers []*testkit.ManagerProcess
	w.balancer, managers = testkit.Managers(t, cluster, o, replicas)
	return w.start(t, managers)
}

// newWorldWith is newWorldOn with one manager, which some options are set of: for tests that stop, read or measure it.
func newWorldWith(t *testing.T, cluster *testkit.Cluster, o testkit.ManagerOptions, change ...func(a, b *v1alpha1.ConferenceConfig)) *world {
	t.Helper()
	w, where := prepareWorld(t, cluster, change...)
	o.Addresses, o.DefaultConfig = where.Addresses, where.DefaultConfig
	return w.start(t, []*testkit.ManagerProcess{testkit.Manager(t, cluster, o)})
}

// newWorldOfOne is newWorld with one manager.
func newWorldOfOne(t *testing.T, change ...func(a, b *v1alpha1.ConferenceConfig)) *world {
	t.Helper()
	return newWorldWith(t, testkit.ControlPlane(t), testkit.ManagerOptions{}, change...)
}

// prepareWorld is a world whose managers are still to be started, with these options.
func prepareWorld(t *testing.T, cluster *testkit.Cluster, change ...func(a, b *v1alpha1.ConferenceConfig)) (*world, testkit.ManagerOptions) {
	t.Helper()
	ports, err := devstack.RandomPorts(2)
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])}
	w := &world{Cluster: cluster}
	w.livekit = testkit.LiveKit(t, testkit.LiveKitOptions{WebhookURLs: []string{"http://" + addresses[0] + "/media-server/webhook"}})
	w.a = account{t: t, baseURL: "http://" + addresses[0], key: "key-of-tenant-a-0123456789"}
	w.b = account{t: t, baseURL: "http://" + addresses[1], key: "key-of-tenant-b-0123456789"}
	w.Secret(t, v1alpha1.UsedByConferenceConfig, "api-a", map[string]string{"key": w.a.key})
	w.Secret(t, v1alpha1.UsedByConferenceConfig, "env-b", map[string]string{"API_KEY_SECRET": `"` + w.b.key + `"`, "API_DISABLED": "[]"})
	w.Secret(t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": w.livekit.Key, "apiSecret": w.livekit.Secret})
	a := &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "default"},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: w.a.baseURL, MediaRefs: testkit.MediaRefs("livekit"),
			API: &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api-a", Key: "key"}}},
		},
	}
	b := &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "variant-b"},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantB, BaseURL: w.b.baseURL, MediaRefs: testkit.MediaRefs("livekit"),
			Source: &v1alpha1.SourceSpec{Env: &v1alpha1.EnvSource{SecretRef: &v1alpha1.SecretReference{Name: "env-b"}}},
		},
	}
	for _, f := range change {
		f(a, b)
	}
	w.Create(t, testkit.MediaServer(w.Namespace, w.livekit.URL), a, b)
	return w, testkit.ManagerOptions{Addresses: addresses, DefaultConfig: w.Namespace + "/default"}
}

// start waits until both tenants are served by every manager.
func (w *world) start(t *testing.T, managers []*testkit.ManagerProcess) *world {
	t.Helper()
	w.managers = managers
	if len(managers) == 1 {
		w.manager = managers[0]
	}
	w.eventually(t, func() error { return w.configReady("default") })
	w.eventually(t, func() error { return w.configReady("variant-b") })
	w.eventually(t, w.everyManagerSigns)
	return w
}

// everyManagerSigns is nil once no manager is without the keys that sign: one that does not lead sees them a moment after those that the
// status speaks of.
func (w *world) everyManagerSigns() error {
	for i, m := range w.managers {
		for _, a := range []account{w.a, w.b} {
			request, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, m.URL+"/session", strings.NewReader(`{"ticket":"none"}`))
			if err != nil {
				return err
			}
			request.Host = strings.TrimPrefix(a.baseURL, "http://")
			request.Header.Set("content-type", "application/json")
			if r := a.do(request); r.status == http.StatusServiceUnavailable {
				return fmt.Errorf("manager %d: %s", i, r.raw)
			}
		}
	}
	return nil
}

func (w *world) eventually(t testing.TB, check func() error) {
	t.Helper()
	testkit.Eventually(t, patience, check)
}

func (w *world) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.Namespace, Name: name}
}

// configReady says that a ConferenceConfig is served as it is meant to be: one without a media server is never Ready.
func (w *world) configReady(name string) error {
	var c v1alpha1.ConferenceConfig
	if err := w.Client.Get(context.Background(), w.key(name), &c); err != nil {
		return err
	}
	for _, condition := range c.Status.Conditions {
		noMedia := condition.Reason == v1alpha1.ReasonNotConfigured && len(c.Spec.MediaRefs) == 0
		if condition.Type == v1alpha1.ConditionReady && (condition.Status == metav1.ConditionTrue || noMedia) && c.Status.ObservedGeneration == c.Generation {
			return nil
		}
	}
	return fmt.Errorf("not ready: %+v", c.Status)
}

// meetingOf finds the Meetings of a room.
func (w *world) meetingsOf(t testing.TB, room string) []v1alpha1.Meeting {
	t.Helper()
	var all v1alpha1.MeetingList
	if err := w.Client.List(context.Background(), &all, client.InNamespace(w.Namespace), client.MatchingFields{"spec.room": room}); err != nil {
		t.Fatal(err)
	}
	return all.Items
}

// reply is what the API answered.
type reply struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

func (r reply) text(key string) string {
	s, _ := r.body[key].(string)
	return s
}

// call sends a request with the tenant's key. body is marshalled unless it is a string; nil sends none.
func (a account) call(method, path string, body any) reply {
	a.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = bytes.NewReader([]byte(b))
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			a.t.Fatal(err)
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(a.t.Context(), method, a.baseURL+path, reader)
	if err != nil {
		a.t.Fatal(err)
	}
	request.Header.Set("authorization", a.key)
	return a.do(request)
}

func (a account) do(request *http.Request) reply {
	a.t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	r := reply{status: response.StatusCode, header: response.Header, raw: string(raw)}
	if err := json.Unmarshal(raw, &r.body); err != nil {
		r.body = nil
	}
	return r
}

// want fails the test unless the call had this status.
func (a account) want(status int, method, path string, body any) reply {
	a.t.Helper()
	r := a.call(method, path, body)
	if r.status != status {
		a.t.Fatalf("%s %s answered %d, want %d: %s", method, path, r.status, status, r.raw)
	}
	return r
}

// insist is want for calls under load. It calls again while it is told to, as a backend does: a write that takes too long is not
// what the test is about.
func (a account) insist(status int, method, path string, body any) reply {
	a.t.Helper()
	var r reply
	refused := 0
	testkit.Eventually(a.t, patience, func() error {
		if r = a.call(method, path, body); r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
			return nil
		}
		refused++
		return errors.New(r.raw)
	})
	// An end that was refused may still have been carried out.
	if r.status != status && (refused == 0 || method != http.MethodDelete || r.status != http.StatusNotFound) {
		a.t.Fatalf("%s %s answered %d, want %d: %s", method, path, r.status, status, r.raw)
	}
	return r
}
