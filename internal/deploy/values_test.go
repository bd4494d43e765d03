// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// TestNull: null is an empty value, and is refused where a value cannot be empty. Helm takes a value that is null away, with its default.
func TestNull(t *testing.T) {
	nulls, empty, required, groups := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	var names, groupNames []string
	var look func(schema, values map[string]any, path ...string)
	look = func(schema, values map[string]any, path ...string) {
		for name, property := range schema["properties"].(map[string]any) {
			value, at := values[name], append(slices.Clone(path), name)
			property := property.(map[string]any)
			if inner, ok := value.(map[string]any); ok && property["properties"] != nil && name != "resources" && name != "global" {
				if look(property, inner, at...); len(path) == 0 {
					groups[name] = nil
					groupNames = append(groupNames, name)
				}
				continue
			}
			var none any
			switch value := value.(type) {
			case []any:
				none = []any{}
			case map[string]any:
				if len(value) == 0 {
					none = value
				}
			default:
				if value == "" || value == false {
					none = value
				} else if value == float64(0) {
					none = int64(0)
				}
			}
			of, err := required, error(nil)
			if !slices.Contains(list(schema["required"]), any(name)) {
				of = nulls
				err = unstructured.SetNestedField(empty, none, at...)
			} else {
				names = append(names, name)
			}
			if err = errors.Join(err, unstructured.SetNestedField(of, nil, at...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	look(read(t, "values.schema.json"), read(t, "values.yaml"))
	dir := t.TempDir()
	helm := func(name string, values map[string]any, args ...string) (out, complaint string, err error) {
		file := filepath.Join(dir, name+".yaml")
		write(t, file, values)
		return manifests.TryHelm(t, manifests.SystemNamespace, append([]string{"--values", file}, args...)...)
	}
	refused := func(file string, values map[string]any, names []string) {
		_, complaint, err := helm(file, values)
		for _, name := range names {
			if err == nil || !strings.Contains(complaint, "'"+name+"'") {
				t.Errorf("%s can be null:\n%s", name, complaint)
			}
		}
	}
	refused("required", required, names)
	refused("groups", groups, groupNames)
	parts := []string{
		"--set", "livekit.enabled=true,livekit.nodes=1,livekit.network=loadBalancer,livekit.loadBalancer.ips={192.0.2.1},livekit.secretName=livekit,livekit.redis.create=true",
		"--set", "livekit.turn.enabled=true,livekit.turn.domain=turn.example.com,livekit.serviceMonitor.enabled=true,autoscaling.enabled=true,autoscaling.targetCPUUtilizationPercentage=80",
		"--set", "monitoring.serviceMonitor.enabled=true,monitoring.podMonitor.enabled=true,monitoring.prometheusRule.enabled=true,monitoring.dashboard.enabled=true",
		"--set", "ingress.enabled=true,ingress.hosts={a.example.com},httpRoute.enabled=true,httpRoute.hostnames={a.example.com}",
		"--set-json", `httpRoute.parentRefs=[{"name": "a"}]`,
		"--set", "allowedHosts.enabled=true,priorityClass.create=true,podDisruptionBudget.minAvailable=1",
	}
	withNulls, complaint, err := helm("nulls", nulls, parts...)
	if err != nil {
		t.Fatal(complaint)
	}
	withEmpty, complaint, err := helm("empty", empty, parts...)
	if err != nil {
		t.Fatal(complaint)
	}
	if diff := cmp.Diff(byName(manifests.Parse(t, withEmpty)), byName(manifests.Parse(t, withNulls))); diff != "" {
		t.Errorf("with empty values (-) and with null (+) there are:\n%s", diff)
	}
}
