// SPDX-License-Identifier: Apache-2.0

package conference_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/meetingclaims"
)

// meetings answers what the pages and the REST API of a manager ask.
type meetings struct {
	*conference.Service
	*directory.Directory
}

// onCluster makes meetings on a real API server, with a tenant of their own.
func onCluster(t *testing.T) (meetings, *tenant.Tenant) {
	t.Helper()
	c := testkit.ControlPlane(t)
	seen, err := cache.New(c.Config, cache.Options{Scheme: testkit.Scheme(), DefaultNamespaces: map[string]cache.Config{c.Namespace: {}}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := directory.New(t.Context(), directory.Options{Cache: seen, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = seen.Start(t.Context()) }()
	if !seen.WaitForCacheSync(t.Context()) {
		t.Fatal("the cache is not filled")
	}
	signer, _ := credential.NewSigner("convene/test", map[string][]byte{"1": make([]byte, 32)})
	settings := meeting.DefaultSettings()
	return meetings{conference.New(c.Client, d, time.Now), d}, &tenant.Tenant{
		NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: "default"}, UID: "config", Settings: settings, BaseURL: "https://meet.example.com",
		Signer: signer,
	}
}

// TestMeetingsAreAsTheirDoubles: what the doubles of the surfaces' tests answer, a Service answers as well.
func TestMeetingsAreAsTheirDoubles(t *testing.T) {
	t.Run("pages", func(t *testing.T) {
		m, of := onCluster(t)
		create := func(room, password string) {
			if _, err := m.Create(t.Context(), of, conference.CreateCommand{Room: room, Duration: "1h", Password: &password}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(meetingclaims.WantOfPages, meetingclaims.OfPages(t, of, m, create)); diff != "" {
			t.Errorf("answers (-want +got)\n%s", diff)
		}
	})
	t.Run("API", func(t *testing.T) {
		m, of := onCluster(t)
		if diff := cmp.Diff(meetingclaims.WantOfAPI, meetingclaims.OfAPI(t, of, m)); diff != "" {
			t.Errorf("answers (-want +got)\n%s", diff)
		}
	})
}
