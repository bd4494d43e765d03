// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/testkit/manifests"
)

func init() { helms = append(helms, "helm4") }

// TestEachHelmRendersTheSame of each example of values.
func TestEachHelmRendersTheSame(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join(manifests.Chart(t), "ci", "*.yaml"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("%q, %v", examples, err)
	}
	for _, example := range examples {
		var first map[string]any
		withEachHelm(t, func(t *testing.T, helm string, _ []string) {
			out, complaint, err := manifests.Run(t, helm, "template", "convene", manifests.Chart(t), "--namespace", manifests.SystemNamespace,
				"--values", example, "--set", "livekit.secretName=livekit")
			if err != nil {
				t.Fatal(complaint)
			}
			all := byName(manifests.Parse(t, out))
			if first == nil {
				first = all
			} else if diff := cmp.Diff(first, all); diff != "" {
				t.Errorf("%s: another Helm (-) and this one (+) render:\n%s", filepath.Base(example), diff)
			}
		})
	}
}
