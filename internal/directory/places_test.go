// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A process that starts knows the media servers where meetings are, once it may read their Secrets, though no ConferenceConfig names
// them any more. What a user can write into a Meeting gives its tenant none.
func TestAStartFindsTheMediaServersOfMeetings(t *testing.T) {
	c := testkit.ControlPlane(t)
	at := func(name string) v1alpha1.MediaServerReference {
		return v1alpha1.MediaServerReference{Namespace: c.Namespace, Name: name}
	}
	for _, name := range []string{"new", "old", "left", "asked", "others"} {
		m := testkit.MediaServer(c.Namespace, "https://"+name+".example:7880")
		m.Name = name
		c.Create(t, m)
	}
	config := &v1alpha1.ConferenceConfig{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "default"}}
	config.Spec = v1alpha1.ConferenceConfigSpec{
		Variant: v1alpha1.VariantA, BaseURL: "https://meet.example", MediaRefs: testkit.MediaRefs("new"),
		API: &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "keys", Key: "key"}}},
	}
	c.Create(t, config)
	place := func(config, room string, change func(*v1alpha1.Meeting)) {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: meeting.ObjectNames(config, room)[0]}}
		m.Spec.Room, m.Spec.ConfigRef.Name = room, config
		m.Annotations = map[string]string{v1alpha1.AnnotationMediaServer: c.Namespace + "/asked"}
		c.Create(t, m)
		change(m)
		if err := c.Client.Status().Update(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	now := metav1.Now()
	here := func(name string) func(*v1alpha1.Meeting) {
		return func(m *v1alpha1.Meeting) { m.Status.MediaServer = new(at(name)) }
	}
	place("default", "asks", func(*v1alpha1.Meeting) {})
	place("default", "stays", here("old"))
	place("default", "again", here("old"))
	place("other", "stays", here("others"))
	place("default", "moved", func(m *v1alpha1.Meeting) {
		here("new")(m)
		m.Status.LeftMediaServers = []v1alpha1.LeftMediaServer{{MediaServerReference: at("left"), LeftTime: now}}
	})

	shared, err := cache.New(c.Config, cache.Options{Scheme: testkit.Scheme(), DefaultNamespaces: map[string]cache.Config{c.Namespace: {}}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(t.Context(), Options{Cache: shared, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	tenants := tenant.NewRegistry(tenant.Options{
		Cache: shared, Client: secrets.CoreV1().RESTClient(), Dial: livekit.New, Namespace: c.Namespace,
		PlacesOf: func(ctx context.Context, config types.NamespacedName) ([]types.NamespacedName, error) {
			if asked.Add(1) == 1 {
				return nil, errors.New("not now")
			}
			return d.PlacesOf(ctx, config)
		},
	})
	for _, part := range []func(context.Context) error{shared.Start, tenants.Start} {
		go func() { _ = part(t.Context()) }()
	}
	has := func(want map[string]bool) {
		t.Helper()
		testkit.Eventually(t, time.Minute, func() error {
			known, ok := tenants.Get(client.ObjectKeyFromObject(config))
			if !ok {
				return errors.New("there is no tenant")
			}
			got := map[string]bool{}
			for _, m := range known.Media {
				got[m.Name.Name] = !m.Retired
			}
			if !maps.Equal(got, want) {
				return fmt.Errorf("it may use of the media servers: %v, want %v", got, want)
			}
			return nil
		})
	}
	has(map[string]bool{})
	c.Secret(t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": "key", "apiSecret": "secret-of-thirty-two-characters-x"})
	has(map[string]bool{"new": true, "old": false, "left": false})
}
