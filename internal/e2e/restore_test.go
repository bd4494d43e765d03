// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// backup is a tenant's namespace as a tool such as Velero keeps it: whole objects.
type backup []unstructured.Unstructured

// backUp keeps a tenant's objects.
func (w *world) backUp(t *testing.T) (all backup) {
	t.Helper()
	for _, kind := range []string{"v1 Secret", "convene.dev/v1alpha1 ConferenceConfig", "convene.dev/v1alpha1 Meeting"} {
		var list unstructured.UnstructuredList
		version, kind, _ := strings.Cut(kind, " ")
		list.SetAPIVersion(version)
		list.SetKind(kind + "List")
		if err := w.Client.List(t.Context(), &list, client.InNamespace(w.Namespace)); err != nil {
			t.Fatal(err)
		}
		all = append(all, list.Items...)
	}
	return all
}

// lose takes the objects away, and with them what they were known by.
func (w *world) lose(t *testing.T, all backup) {
	t.Helper()
	for _, o := range all {
		if err := w.Client.Delete(t.Context(), o.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
}

// bringBack makes the objects again as Velero does: names, labels and annotations stay, owners do not, and the
// cluster gives new UIDs. The status comes back where the restore is told so.
func (w *world) bringBack(t *testing.T, all backup, withStatus bool) {
	t.Helper()
	for _, was := range all {
		o := was.DeepCopy()
		for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "ownerReferences", "managedFields"} {
			unstructured.RemoveNestedField(o.Object, "metadata", field)
		}
		if err := w.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if o.GetUID() == was.GetUID() {
			t.Fatalf("%s has the UID that it had", o.GetName())
		}
		if status, has := was.Object["status"]; has && withStatus {
			o.Object["status"] = status
			if err := w.Client.Status().Update(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLinksAndSessionsOutlastARestoreWithNewUIDs: a tool restores a tenant's namespace, and every object has another UID. Links
// open the meetings that they were made for, a session still stands for the password, and who was removed stays out.
func TestLinksAndSessionsOutlastARestoreWithNewUIDs(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	for name, withStatus := range map[string]bool{"without status": false, "with status": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOfOne(t)
			board := w.a.ticket(map[string]any{"room": "board", "name": "Ada", "roomPassword": "sesame", "token": w.a.presenterToken("ada")})
			ada := w.a.mustEnter(map[string]any{"room": "board", "name": "Ada", "ticket": board})
			ada.connect(t)
			eves := w.a.ticket(map[string]any{"room": "board", "name": "Eve", "roomPassword": "sesame"})
			eve := w.a.mustEnter(map[string]any{"room": "board", "name": "Eve", "ticket": eves})
			eve.connect(t)
			if status := w.a.withSession(ada, "session/act", map[string]any{"action": "remove", "identity": eve.You.Identity}); status != http.StatusNoContent {
				t.Fatalf("remove: %d", status)
			}
			w.Create(t, w.meeting("standing"))
			w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingActive))
			standing := w.a.ticket(map[string]any{"room": "standing", "name": "Ada"})
			w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, "board"), v1alpha1.MeetingActive) })
			w.manager.Stop()
			all := w.backUp(t)
			w.lose(t, all)
			w.bringBack(t, all, withStatus)
			w.manager.Start(t)
			w.eventually(t, func() error { return w.configReady("default") })

			w.a.mustEnter(map[string]any{"room": "board", "name": "Ada", "ticket": board})
			w.a.mustEnter(map[string]any{"room": "standing", "name": "Ada", "ticket": standing})
			w.a.mustEnter(map[string]any{"room": "board", "name": "Ada", "session": ada.Session})
			w.a.refused("the password is lost", map[string]any{"room": "board", "name": "Mallory"}, "PasswordRequired")
			for way, body := range map[string]map[string]any{
				"link":                  {"room": "board", "name": "Eve", "ticket": eves},
				"session":               {"room": "board", "name": "Eve", "session": eve.Session},
				"session and lost link": {"room": "board", "name": "Eve", "session": eve.Session, "ticket": "x"},
			} {
				if status, e := w.a.session(body); status != http.StatusForbidden || !strings.Contains(e.Error, "removed") {
					t.Errorf("who was removed is let in again with the %s: %d %s", way, status, e.Error)
				}
			}
			testkit.Eventually(t, patience, func() error {
				if m := w.meetingsOf(t, "board")[0]; m.Status.Phase != v1alpha1.MeetingActive {
					return errors.New(string(m.Status.Phase))
				}
				return nil
			})
		})
	}
}
