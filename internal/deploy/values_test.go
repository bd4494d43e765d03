// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit/manifests"
)

// merged are values with others over them, as Helm merges them.
func merged(values, over map[string]any) map[string]any {
	all := maps.Clone(values)
	for name, value := range over {
		below, isMap := all[name].(map[string]any)
		if inner, ok := value.(map[string]any); ok && isMap {
			value = merged(below, inner)
		}
		all[name] = value
	}
	return all
}

// read reads a file of the chart.
func read(t *testing.T, name string) (content map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(manifests.Chart(t), name))
	if err == nil {
		err = yaml.Unmarshal(raw, &content)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return content
}

func write(t *testing.T, file string, content map[string]any) {
	t.Helper()
	raw, err := yaml.Marshal(content)
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
