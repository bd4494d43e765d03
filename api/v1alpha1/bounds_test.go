// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit"
)

// fullSpecs are, by kind, specs that have every field between them.
var fullSpecs = map[string]struct {
	plural string
	specs  []string
}{
	"ConferenceConfig": {"conferenceconfigs", []string{
		fullA, fullConfigMap, fullB, fullEnvFrom, withSecrets(fullConfigMap), withSecrets(fullEnvFrom),
	}},
	"Meeting":     {"meetings", []string{fullMeeting}},
	"MediaServer": {"mediaservers", []string{fullMediaServer}},
}

// withSecrets has an environment from Secrets in place of ConfigMaps: an entry names one of the two.
func withSecrets(spec string) string { return strings.ReplaceAll(spec, "configMapRef", "secretRef") }

// Every length, number, list, pattern, enumeration and required field of the specs: kept, and broken.
func TestBoundsOfSpecs(t *testing.T) {
	c := testkit.ControlPlane(t)
	for kind, from := range fullSpecs {
		var whole []*object
		for _, spec := range from.specs {
			o := resource(t, c, kind, spec)
			if err := create(t, c, o); err != nil {
				t.Fatalf("a %s with every field: %v", kind, err)
			}
			whole = append(whole, o)
		}
		checkBounds(t, whole, boundsOf(schemaOf(t, from.plural), "spec"), func(o *object) error { return create(t, c, o) })
	}
}

// The same for the statuses, which only controllers write: what they cannot write, they must never try.
func TestBoundsOfStatuses(t *testing.T) {
	c := testkit.ControlPlane(t)
	for kind, from := range map[string]struct{ plural, spec, status string }{
		"ConferenceConfig": {"conferenceconfigs", fullA, fullConfigStatus},
		"MediaServer":      {"mediaservers", fullMediaServer, fullMediaServerStatus},
		"Meeting":          {"meetings", fullMeeting, fullMeetingStatus},
	} {
		o := resource(t, c, kind, from.spec)
		if err := c.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		var status map[string]any
		if err := yaml.Unmarshal([]byte(from.status), &status); err != nil {
			t.Fatal(err)
		}
		o.Object["status"] = plain(status)
		write := func(o *object) error {
			o = o.DeepCopy()
			if err := c.Client.Status().Update(t.Context(), o, client.DryRunAll); err != nil {
				return err
			}
			mustDecode(t, o)
			return nil
		}
		if err := write(o); err != nil {
			t.Fatalf("a %s with every field of its status: %v", kind, err)
		}
		checkBounds(t, []*object{o}, boundsOf(schemaOf(t, from.plural), "status"), write)
	}
}

// checkBounds breaks and keeps each constraint, in the first object that has the field.
func checkBounds(t *testing.T, whole []*object, bounds []bound, write func(*object) error) {
	t.Helper()
	var all errgroup.Group
	all.SetLimit(4)
	for _, b := range bounds {
		all.Go(func() error {
			i := slices.IndexFunc(whole, func(o *object) bool { _, ok := set(o, b.path, absent); return ok })
			if i < 0 {
				t.Errorf("%s: no full object has this field; add it to full_test.go", b.path)
				return nil
			}
			broken, _ := set(whole[i], b.path, b.bad)
			if err := write(broken); !refusedAt(err, b.field, b.says) {
				t.Errorf("%s: %.60v is not refused with %q: %v %q", b.path, b.bad, b.says, err, causes(err))
			}
			for _, good := range b.goods {
				kept, _ := set(whole[i], b.path, good)
				if err := write(kept); err != nil {
					t.Errorf("%s: %.60v is refused: %v", b.path, good, err)
				}
			}
			return nil
		})
	}
	_ = all.Wait()
}
