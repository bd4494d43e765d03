// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"convene.dev/convene/internal/testkit"
)

// TestWhatIsStoredCanBeRead tries in each field of the specs what the API server's own checks of types and formats take, or might, and Go's
// types refuse: an informer stops at an object that it cannot decode.
func TestWhatIsStoredCanBeRead(t *testing.T) {
	c := testkit.ControlPlane(t)
	tried, formats := 0, map[string]int{}
	for kind, from := range fullSpecs {
		var whole []*object
		for _, spec := range from.specs {
			whole = append(whole, resource(t, c, kind, spec))
		}
		var all errgroup.Group
		all.SetLimit(8)
		visit("", schemaOf(t, from.plural), func(path string, s schema) {
			if !strings.HasPrefix(path, "spec.") || len(s.Enum) > 0 || path == "spec.api.extensions[]" {
				return
			}
			i := slices.IndexFunc(whole, func(o *object) bool { _, ok := set(o, path, absent); return ok })
			if i < 0 {
				return // TestBoundsOfSpecs wants every field that has a bound.
			}
			values := oddValues(s)
			formats[s.Format] += len(values)
			for _, value := range values {
				tried++
				all.Go(func() error {
					o, _ := set(whole[i], path, value)
					_ = create(t, c, o) // It decodes what is taken.
					return nil
				})
			}
		})
		_ = all.Wait()
	}
	t.Logf("%d values tried; by format: %v", tried, formats)
	if formats["date-time"] < 20 || formats["byte"] < 10 || formats["int32"] < 20 {
		t.Errorf("too few values were tried for a format: %v", formats)
	}
}

// oddValues are of other types than a field's, and what a format's checker takes and Go's type for it does not.
func oddValues(s schema) (values []any) {
	switch s.Type {
	case "object", "array":
		return nil
	case "integer":
		return []any{"1", true, []int{1}, map[string]any{}, 1.5, 1e3, 1e21, -1e21, int64(1) << 31, int64(1) << 40, -int64(1) << 40}
	case "boolean":
		return []any{"true", 1, []int{1}, map[string]any{}}
	}
	values = []any{5, 1.5, true, []int{1}, []int{1000}, []string{"x"}, map[string]any{}, map[string]any{"x": 1}}
	unreadable := func(format, from, alphabet string, decode func([]byte) error) {
		for _, text := range variants(from, alphabet) {
			data, _ := json.Marshal(text)
			if strfmt.Default.Validates(format, text) && decode(data) != nil {
				values = append(values, text)
			}
		}
	}
	switch s.Format {
	case "date-time":
		for _, from := range []string{"2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+02:00", "2026-01-01t00:00:00z"} {
			unreadable(s.Format, from, "Ttz+x9: ", func(data []byte) error { return json.Unmarshal(data, &metav1.Time{}) })
		}
		values = append(values, "2026-01-01T00:00:00+99:99", "2026-01-01T00:00:00ZTjunk", "2026-01-01T00:00:00x5Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z",
			"2026-01-01T23:59:60Z", "0000-01-01T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01")
	case "byte":
		unreadable(s.Format, "QUJDRA==", "= \n-_AQ*", func(data []byte) error { return json.Unmarshal(data, &[]byte{}) })
		values = append(values, "QUI", "Q", "QUI=\n", "====", "A-_A", "QR==", "\n", " ")
	}
	return values
}

// variants are texts that differ from one in a character: in place of another, added or left out.
func variants(from, alphabet string) (all []string) {
	for i := range len(from) + 1 {
		for _, r := range alphabet {
			all = append(all, from[:i]+string(r)+from[i:])
			if i < len(from) {
				all = append(all, from[:i]+string(r)+from[i+1:])
			}
		}
		if i < len(from) {
			all = append(all, from[:i]+from[i+1:])
		}
	}
	return all
}
