// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
)

// TestMain runs the tests. testkit.ControlPlane starts an envtest.Environment for the tests that need a cluster.
func TestMain(m *testing.M) { testkit.Main(m) }

// TestRequestsBecomeObjects sends the requests of a meeting's life to an API on a real cluster API, without controllers.
func TestRequestsBecomeObjects(t *testing.T) {
	c := testkit.ControlPlane(t)
	w := newWorld(t, testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) {
		t.NamespacedName = types.NamespacedName{Namespace: c.Namespace, Name: "conf"}
	}))
	w.options.Meetings = meetingsOn(t, c)
	w.serve()
	object := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: meeting.ObjectNames("conf", "board")[0]}}
	read := func() *v1alpha1.Meeting {
		t.Helper()
		if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		return object
	}

	// kube-apiserver holds back creates of a kind that it has had for less than two seconds.
	testkit.Eventually(t, time.Minute, func() error {
		if got := w.do(http.MethodPost, "meeting", `{"room":"board","duration":"01:00:00","maxParticipants":7}`); got.status != http.StatusOK {
			return fmt.Errorf("POST meeting: %d %s", got.status, got.body)
		}
		return nil
	})
	made := read().DeepCopy()
	if s := made.Spec; s.Room != "board" || s.ConfigRef.Name != "conf" || s.Duration != "1h" || *s.MaxParticipants != 7 || s.End != nil {
		t.Errorf("POST meeting made %+v", s)
	}

	if got := w.do(http.MethodPost, "join", `{"room":"board","name":"Ada","roomPassword":"open sesame"}`); got.status != http.StatusOK {
		t.Fatalf("POST join: %d %s", got.status, got.body)
	}
	if now := read(); now.UID != made.UID || now.Spec.PasswordSecretRef == nil {
		t.Errorf("POST join: Meeting %s has become %s, with the password in %v", made.UID, now.UID, now.Spec.PasswordSecretRef)
	}
	if got := w.do(http.MethodPost, "join", `{"room":"board","name":"Ada","roomPassword":"another"}`); got.status != http.StatusForbidden {
		t.Errorf("POST join with a wrong password: %d %s", got.status, got.body)
	}
	if got := w.do(http.MethodGet, "stats", ""); got.json(t)["totalRooms"] != 1.0 {
		t.Errorf("GET stats: %s", got.body)
	}

	if got := w.do(http.MethodDelete, "meeting/board", `{"redirect":"https://example.com/bye"}`); got.status != http.StatusOK {
		t.Fatalf("DELETE meeting: %d %s", got.status, got.body)
	}
	if end := read().Spec.End; end == nil || *end.Redirect != "https://example.com/bye" {
		t.Errorf("DELETE meeting: spec.end is %+v", end)
	}
	if got := w.do(http.MethodDelete, "meeting/board", ""); got.status != http.StatusNotFound {
		t.Errorf("a second DELETE: %d %s", got.status, got.body)
	}
	if got := w.do(http.MethodGet, "meetings", ""); got.body != `{"meetings":[]}` {
		t.Errorf("GET meetings after the end: %s", got.body)
	}
}

// meetingsOn are the Meetings of a cluster, as cmd/manager has them.
func meetingsOn(t *testing.T, c *testkit.Cluster) Meetings {
	t.Helper()
	shared, err := cache.New(c.Config, cache.Options{Scheme: testkit.Scheme(), DefaultNamespaces: map[string]cache.Config{c.Namespace: {}}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := directory.New(t.Context(), directory.Options{Cache: shared, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := shared.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if !shared.WaitForCacheSync(t.Context()) {
		t.Fatal("the cache does not start")
	}
	return struct {
		*directory.Directory
		*conference.Service
	}{d, conference.New(c.Client, d, time.Now)}
}
