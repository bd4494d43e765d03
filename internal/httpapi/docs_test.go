// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/tenant"
)

// TestPageIsBuilt fails where npm has not been run: the other tests of the page could only guess.
func TestPageIsBuilt(t *testing.T) {
	if !built() {
		t.Fatal("internal/httpapi/docsui/dist is empty: run make web, or npm ci && npm run build in internal/httpapi/docsui")
	}
}

// operations that a document has, as method and path.
func operations(t *testing.T, document map[string]any) []string {
	t.Helper()
	var found []string
	for path, item := range document["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				found = append(found, strings.ToUpper(method)+" "+strings.TrimPrefix(path, prefix))
			}
		}
	}
	slices.Sort(found)
	return found
}

// controlNamed has off name the extension.
const controlNamed = "+control"

// TestDocuments looks at the documents of both variants.
func TestDocuments(t *testing.T) {
	both := []string{
		"GET docs", "GET docs/openapi.json", "GET docs/openapi.yaml", "GET stats", "GET meetings", "POST meeting", "POST join", "POST token",
		"GET meeting/{room}", "PATCH meeting/{room}", "GET meeting/{room}/participants", "PATCH meeting/{room}/participants/{identity}",
		"DELETE meeting/{room}/participants/{identity}", "POST meeting/{room}/announcements",
	}
	ofA := []string{"EndError", "EndRequest", "Ended", "Ending"}
	for _, tc := range []struct {
		variant    v1alpha1.Variant
		operations []string
		lacks      []string
	}{
		{v1alpha1.VariantA, append(both, "DELETE meeting/{room}"), nil},
		{v1alpha1.VariantB, both, ofA},
	} {
		w := newWorld(t, testTenant(tc.variant)).serve()
		text := w.do(http.MethodGet, "docs/openapi.json", "").body
		var inJSON, inYAML map[string]any
		if err := json.Unmarshal([]byte(text), &inJSON); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(w.do(http.MethodGet, "docs/openapi.yaml", "").body), &inYAML); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(inYAML, inJSON); diff != "" {
			t.Errorf("variant %s: JSON and YAML differ:\n%s", tc.variant, diff)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(tc.operations)), operations(t, inJSON)); diff != "" {
			t.Errorf("variant %s (-want +got):\n%s", tc.variant, diff)
		}
		want := slices.Sorted(maps.Keys(described().at("components", "schemas")))
		want = slices.DeleteFunc(want, func(name string) bool { return slices.Contains(tc.lacks, name) })
		d := &description{root: inJSON}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(d.at("components", "schemas")))); diff != "" {
			t.Errorf("variant %s, schemas (-want +got):\n%s", tc.variant, diff)
		}
		for _, section := range []string{"schemas", "responses", "headers"} {
			for name := range d.at("components", section) {
				if !strings.Contains(text, `"$ref":"#/components/`+section+"/"+name+`"`) {
					t.Errorf("variant %s: nothing refers to %s %s", tc.variant, section, name)
				}
			}
		}
		for name, schema := range d.at("components", "schemas") {
			schema := schema.(map[string]any)
			example, _ := schema["example"].(map[string]any)
			for member := range example {
				if d.from(schema, "properties", member) == nil {
					t.Errorf("variant %s: the example of %s has %s", tc.variant, name, member)
				}
			}
		}
		for _, ref := range regexp.MustCompile(`"\$ref":"#/([^"]*)"`).FindAllStringSubmatch(text, -1) {
			if d.at(strings.Split(ref[1], "/")...) == nil {
				t.Errorf("variant %s: there is no %s", tc.variant, ref[1])
			}
		}
		if strings.Contains(text, "x-convene-") {
			t.Errorf("variant %s: the document shows our own extensions", tc.variant)
		}
	}
}

// TestJoinPasswordIsOfVariantA looks at the one property that belongs to one variant.
func TestJoinPasswordIsOfVariantA(t *testing.T) {
	for variant, want := range map[v1alpha1.Variant]bool{v1alpha1.VariantA: true, v1alpha1.VariantB: false} {
		w := newWorld(t, testTenant(variant)).serve()
		document := w.do(http.MethodGet, "docs/openapi.json", "").json(t)
		join := (&description{root: document}).at("components", "schemas", "JoinRequest", "properties")
		if _, has := join["roomPassword"]; has != want {
			t.Errorf("variant %s: %v", variant, has)
		}
	}
}

// TestDocumentsAreTheTenants: they have its base URL, and name what it has switched off.
func TestDocumentsAreTheTenants(t *testing.T) {
	const summary = "Rooms, meetings, direct-join links and tokens, for a trusted backend."
	for _, tc := range []struct {
		variant v1alpha1.Variant
		base    string
		off     []string
		want    string
	}{
		{v1alpha1.VariantA, "https://a.example.com", nil, summary + " Switched off here: control."},
		{v1alpha1.VariantB, "https://b.example.com:8443/meet?x='1'&y", []string{"stats", controlNamed}, summary + " Switched off here: stats."},
		{v1alpha1.VariantA, "https://meet.example.com", []string{"meeting", "join"}, summary + " Switched off here: control, join, meeting, meetingEnd."},
		{v1alpha1.VariantB, "https://meet.example.com", []string{controlNamed}, summary},
	} {
		one := testTenant(tc.variant, off(tc.off...), func(t *tenant.Tenant) { t.BaseURL = tc.base })
		for form, text := range map[string][]byte{"JSON": documents[tc.variant].json, "YAML": documents[tc.variant].yaml} {
			var read struct {
				Info    struct{ Summary string }
				Servers []struct{ URL string }
			}
			if err := yaml.Unmarshal(slices.Concat(of(one, text)...), &read); err != nil || len(read.Servers) != 1 || read.Servers[0].URL != tc.base {
				t.Errorf("%s of %s: %v, %v", form, tc.base, read, err)
			}
			if read.Info.Summary != tc.want {
				t.Errorf("%s of %s, without %v: %s\nwant %s", form, tc.base, tc.off, read.Info.Summary, tc.want)
			}
		}
	}
}

// TestPage follows every link of the page, and finds all of it at home.
func TestPage(t *testing.T) {
	one := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Web.Brand.Name = `<Ada & "Co">` })
	w := newWorld(t, one).serve()
	for _, path := range []string{"docs", "docs/"} {
		got := w.do(http.MethodGet, path, "", func(r *http.Request) { r.Header = http.Header{} })
		if got.status != http.StatusOK || !strings.Contains(got.body, "<title>&lt;Ada &amp; &#34;Co&#34;&gt; API</title>") {
			t.Fatalf("%d %s", got.status, got.body)
		}
		links := regexp.MustCompile(`(?:src|href|data-document)="([^"]+)"`).FindAllStringSubmatch(got.body, -1)
		if len(links) < 6 {
			t.Errorf("only %d links", len(links))
		}
		for _, link := range links {
			if link[1] == "data:," {
				continue
			}
			if got := w.send(w.request(http.MethodGet, link[1], "", func(r *http.Request) { r.Header = http.Header{} })); got.status != http.StatusOK || got.body == "" {
				t.Errorf("%s: %d", link[1], got.status)
			}
		}
		policy := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' https://meet.example.com; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
		if diff := cmp.Diff(policy, got.header.Get("Content-Security-Policy")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestAssets(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	for _, name := range assets {
		got := w.do(http.MethodGet, "docs/assets/"+name, "")
		if got.status != http.StatusOK || got.header.Get("Content-Type") == "" {
			t.Errorf("%s: %d %v", name, got.status, got.header)
		}
		if strings.Contains(got.body[max(0, len(got.body)-200):], "sourceMappingURL") {
			t.Errorf("%s sends browsers to look for a source map", name)
		}
	}
	for _, name := range []string{"nothing.js", ".gitignore", "LICENSE", "..%2Fpage.html"} {
		if got := w.do(http.MethodGet, "docs/assets/"+name, ""); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

func TestPagePolicyCannotBeBrokenOut(t *testing.T) {
	for _, base := range []string{"https://a;script-src%20*", "https://a,b", "https://a'b", "nonsense"} {
		if policy := pagePolicy(base); strings.Count(policy, "script-src") != 1 || !strings.Contains(policy, "connect-src 'self'") || strings.Contains(policy, ",") {
			t.Errorf("%s: %s", base, policy)
		}
	}
}
