// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"convene.dev/convene/internal/testkit/manifests"
)

// TestTextStaysText has text in every value, and in the names of the release and its namespace, that YAML takes for a number, for true, or
// for an end of the text. What is rendered has the same fields of the same types as with words, and kustomize reads the same objects.
func TestTextStaysText(t *testing.T) {
	values, schema := read(t, "values.yaml"), read(t, "values.schema.json")
	render := func(release, namespace string, written map[string]any) []*unstructured.Unstructured {
		t.Helper()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "values.yaml"), written)
		out, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), "template", release, manifests.Chart(t), "--namespace", namespace,
			"--values", filepath.Join(dir, "values.yaml"))
		if err != nil {
			t.Fatalf("helm template: %v\n%s", err, complaint)
		}
		if err := os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "kustomization.yaml"), map[string]any{"resources": []any{"all.yaml"}})
		all := manifests.Parse(t, out)
		if diff := cmp.Diff(byName(all), byName(manifests.Parse(t, manifests.Build(t, dir)))); diff != "" {
			t.Errorf("Helm (-) and kustomize (+) have:\n%s", diff)
		}
		selectorsSelect(t, all)
		return all
	}
	unset := map[string]int{}
	examples := map[string]string{ // With the values that exclude others of them.
		"everything":       "watchNamespace nameOverride ingress.certManager.issuer livekit.redis.address",
		"livekit-on-hosts": "rbac.secretNamespaces fullnameOverride ingress.tlsSecretName livekit.loadBalancer.nodeAnnotations",
	}
	for name, excluded := range examples {
		example := merged(values, read(t, filepath.Join("ci", name+".yaml")))
		with := func(forms ...string) map[string]any {
			w := &writer{forms: forms}
			written := w.of(schema, example).(map[string]any)
			for _, path := range emptyIn("", written) {
				unset[path]++
			}
			for path := range strings.FieldsSeq(excluded) {
				unstructured.RemoveNestedField(written, strings.Split(path, ".")...)
			}
			return written
		}
		words := with("word%d", "/word%d", "word%d/word", "word:%d", "10.0.0.%d", "10.0.0.%d/32", "%ds", "%dMiB", "sha256:%064d", "--word%d", "https://word%d")
		odd := with("%d: # '\" {", "0x%d", "%de3", "%d", "%d:80", "::%d", "::%d/64", "/%d: #", "%d/1e3", "%ds", "sha256:%064d", "--%d: #", "https://%d: #")
		if diff := cmp.Diff(fieldsOf(render("word", "words", words)), fieldsOf(render("1e3", "12345", odd))); diff != "" {
			t.Errorf("%s: with words (-) and with odd text (+) there are:\n%s", name, diff)
		}
	}
	for path, n := range unset {
		if n == 2*len(examples) {
			t.Errorf("no example sets %s", path)
		}
	}
}

// TestEveryReleaseNamesItsServices: names of releases may begin with a digit and have dots, names of Services may not.
func TestEveryReleaseNamesItsServices(t *testing.T) {
	for _, c := range []struct{ release, set, want string }{
		{"convene", "", "convene"},
		{"meet", "", "meet-convene"},
		{"meet", "nameOverride=video", "meet-video"},
		{"meet", "fullnameOverride=video", "video"},
		{"1e3", "", "convene-1e3"},
		{"1e3", "fullnameOverride=true", "true"},
		{"1e3", "nameOverride=video", "video-1e3"},
		{"my.convene", "", "my-convene"},
		{"my.release", "", "my-release-convene"},
		{strings.Repeat("1", 53), "", "convene-" + strings.Repeat("1", 32)},
		{"a." + strings.Repeat("b", 37) + ".c", "", "a-" + strings.Repeat("b", 37)},
		{strings.Repeat("a", 38) + "--b", "", strings.Repeat("a", 38)},
		{"meet", "fullnameOverride=" + strings.Repeat("a", 38) + "--b", strings.Repeat("a", 38)},
	} {
		out, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), "template", c.release, manifests.Chart(t), "--set-string", c.set)
		if err != nil {
			t.Fatalf("helm template %s: %v\n%s", c.release, err, complaint)
		}
		all := manifests.Parse(t, out)
		manifests.Find(t, all, "Service", c.want)
		for _, o := range manifests.OfKind(all, "Service") {
			if wrong := validation.IsDNS1035Label(o.GetName()); len(wrong) > 0 {
				t.Errorf("the release %s has the Service %s: %s", c.release, o.GetName(), wrong)
			}
		}
	}
}

// emptyIn are the paths of values that are not set.
func emptyIn(path string, value any) (all []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			all = append(all, emptyIn(strings.TrimPrefix(path+"."+name, "."), inner)...)
		}
		if len(value) > 0 {
			return all
		}
	case []any:
		if len(value) > 0 {
			return nil
		}
	case string:
		if value != "" {
			return nil
		}
	case nil:
	default:
		return nil
	}
	return []string{path}
}

// writer writes text into values, each time another one.
type writer struct {
	// forms have a place for a number. The first one that a value may have is taken.
	forms []string
	n     int
}

// of is a value with other text in it, as far as its schema lets it have that.
func (w *writer) of(schema any, value any) any {
	s, _ := schema.(map[string]any)
	for _, one := range list(s["anyOf"]) {
		if one, _ := one.(map[string]any); one["type"] == "string" {
			return w.of(one, value)
		}
	}
	switch s["type"] {
	case "object":
		properties, _ := s["properties"].(map[string]any)
		rest, _ := s["additionalProperties"].(map[string]any)
		given, ok := value.(map[string]any)
		if !ok {
			return value
		}
		written := maps.Clone(given)
		if rest["type"] == "string" {
			return map[string]any{"key": w.of(rest, "")} // Kustomize takes the quotes off keys, and does not read what it then has.
		}
		for name, property := range properties {
			if inner := w.of(property, given[name]); inner != nil {
				written[name] = inner
			}
		}
		return written
	case "array":
		var written []any
		for range max(1, len(list(value))) {
			item, ok := w.of(s["items"], nil).(string)
			if !ok {
				return value
			}
			written = append(written, item)
		}
		return written
	case "string":
		if s["enum"] != nil {
			return value
		}
		pattern, _ := s["pattern"].(string)
		w.n++
		for _, form := range w.forms {
			if text := fmt.Sprintf(form, w.n); regexp.MustCompile(pattern).MatchString(text) {
				return text
			}
		}
	}
	return value
}

func list(value any) []any {
	all, _ := value.([]any)
	return all
}

// fieldsOf are the fields of objects, and the types of what is in them.
func fieldsOf(all []*unstructured.Unstructured) map[string]string {
	found := map[string]string{}
	var look func(path string, value any)
	look = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, inner := range value {
				if filepath.Ext(key) == ".json" {
					key = "NAME.json" // of a release
				}
				look(path+"."+key, inner)
			}
		case []any:
			for _, inner := range value {
				look(path+"[]", inner)
			}
		default:
			if kind := fmt.Sprintf("%T", value); found[path] == "" || found[path] == kind {
				found[path] = kind
			} else {
				found[path] = "several"
			}
		}
	}
	for _, o := range all {
		look(o.GetKind(), o.Object)
	}
	return found
}

func byName(all []*unstructured.Unstructured) map[string]any {
	found := map[string]any{}
	for _, o := range all {
		found[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = o.Object
	}
	return found
}
