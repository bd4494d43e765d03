// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/source/sandbox"
	"convene.dev/convene/internal/testkit"
)

// patience is for conditions that hold in milliseconds on an idle machine.
const patience = 30 * time.Second

// rig is a Registry on a real API server, and a record of what it asks about Secrets and ConfigMaps.
type rig struct {
	*testkit.Cluster
	registry *Registry
	record   *recorder
	mu       sync.Mutex
	told     map[string]int
}

// newRig runs a Registry for some namespaces. The client for Secrets may have fewer rights.
func newRig(t *testing.T, c *testkit.Cluster, rights func(*rest.Config), byDefault string, namespaces ...string) *rig {
	t.Helper()
	return newRigWith(t, c, func(*Options) {}, rights, byDefault, namespaces...)
}

// newRigWith is newRig with some options of the Registry changed.
func newRigWith(t *testing.T, c *testkit.Cluster, change func(*Options), rights func(*rest.Config), byDefault string, namespaces ...string) *rig {
	t.Helper()
	r := &rig{Cluster: c, record: &recorder{open: map[string]int{}}, told: map[string]int{}}
	watched := map[string]cache.Config{}
	for _, ns := range append(namespaces, c.Namespace) {
		watched[ns] = cache.Config{}
	}
	configs, err := cache.New(c.Config, cache.Options{Scheme: testkit.Scheme(), DefaultNamespaces: watched})
	if err != nil {
		t.Fatal(err)
	}
	limited := rest.CopyConfig(c.Config)
	limited.Wrap(func(next http.RoundTripper) http.RoundTripper {
		r.record.next = next
		return r.record
	})
	if rights != nil {
		rights(limited)
	}
	watches, err := kubernetes.NewForConfig(limited)
	if err != nil {
		t.Fatal(err)
	}
	evaluator, err := sandbox.Self()
	if err != nil {
		t.Fatal(err)
	}
	options := Options{
		Cache: configs, Client: watches.CoreV1().RESTClient(), Dial: livekit.New, Evaluate: evaluator.EvaluateConfigJS,
		UnknownHosts: UnknownHosts{Default: types.NamespacedName{Namespace: c.Namespace, Name: byDefault}},
	}
	change(&options)
	r.registry = NewRegistry(options)
	r.registry.Notify(func(name types.NamespacedName) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told[name.Name]++
	})
	r.run(t, configs.Start, r.registry.Start)
	return r
}

// run runs parts until the test ends, and waits for their end.
func (r *rig) run(t *testing.T, parts ...func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, part := range parts {
		all.Go(func() {
			if err := part(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		all.Wait()
	})
}

func (r *rig) eventually(t *testing.T, check func() error) {
	t.Helper()
	testkit.Eventually(t, patience, check)
}

func (r *rig) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := r.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// config makes a config whose one key is in the Secret keys/current.
func (r *rig) config(namespace, name string, hosts ...string) *v1alpha1.ConferenceConfig {
	return &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: "https://" + name + ".example", Hostnames: hosts,
			API: &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "keys", Key: "current"}}},
		},
	}
}

// secret is for ConferenceConfigs.
func secret(namespace, name string, data map[string]string) *corev1.Secret {
	return testkit.SecretFor(v1alpha1.UsedByConferenceConfig, namespace, name, data)
}

// accepts says whether a tenant is there and has exactly that key; an empty key is none.
func (r *rig) accepts(namespace, name, key string) func() error {
	return func() error {
		t, ok := r.registry.Get(types.NamespacedName{Namespace: namespace, Name: name})
		if !ok {
			return fmt.Errorf("there is no tenant %s", name)
		}
		_, match := t.Keys.Match(key)
		if key == "" && t.Keys.Len() != 0 || key != "" && (!match || t.Keys.Len() != 1) {
			return fmt.Errorf("%s has %d keys, and takes %q: %t; problems: %+v", name, t.Keys.Len(), key, match, t.Problems)
		}
		return nil
	}
}

// recorder keeps what is asked of the API server, and which watches are open.
type recorder struct {
	next http.RoundTripper

	mu       sync.Mutex
	requests []string
	open     map[string]int
}

// RoundTrip asks and keeps.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	query := req.URL.Query()
	key := req.URL.Path + "?fieldSelector=" + query.Get("fieldSelector")
	r.mu.Lock()
	r.requests = append(r.requests, req.Method+" "+key)
	r.mu.Unlock()
	response, err := r.next.RoundTrip(req)
	if err == nil && query.Get("watch") == "true" && response.StatusCode == http.StatusOK {
		r.count(key, 1)
		response.Body = &counted{ReadCloser: response.Body, closed: func() { r.count(key, -1) }}
	}
	return response, err
}

func (r *recorder) count(key string, by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[key] += by
	if r.open[key] == 0 {
		delete(r.open, key)
	}
}

// watches are the objects that are watched now, as "secrets/name", without order.
func (r *recorder) watches() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]int{}
	for key, n := range r.open {
		path, selector, _ := strings.Cut(key, "?fieldSelector=metadata.name=")
		all[path[strings.LastIndex(path, "/")+1:]+"/"+selector] = n
	}
	return all
}

type counted struct {
	io.ReadCloser
	once   sync.Once
	closed func()
}

// Close closes once.
func (c *counted) Close() error {
	c.once.Do(c.closed)
	return c.ReadCloser.Close()
}
