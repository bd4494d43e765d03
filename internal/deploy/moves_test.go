// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestUpgradesAreDocumentedInTheWayThatWorks: nothing tells readers to reuse values.
func TestUpgradesAreDocumentedInTheWayThatWorks(t *testing.T) {
	notes, err := os.ReadFile(filepath.Join(manifests.Chart(t), "templates", "NOTES.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pages := testkit.Documents(t)
	pages["NOTES.txt"] = string(notes)
	if !strings.Contains(pages["NOTES.txt"], "--reset-then-reuse-values") {
		t.Error("the notes do not say how to upgrade")
	}
	for name, page := range pages {
		for line := range strings.SplitSeq(page, "\n") {
			if strings.Contains(line, "helm upgrade") && !strings.Contains(line, "--reset-then-reuse-values") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// identity is what tells an object from others.
func identity(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
}
