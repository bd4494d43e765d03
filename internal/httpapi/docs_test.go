// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

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

// controlSchemas are those of the extension control alone.
var controlSchemas = []string{
	"Admission", "Audience", "AudiencePatch", "Done", "Identity", "Media", "MeetingDetails", "MeetingPatchRequest", "AnnouncementRequest", "Participant",
	"ParticipantList", "ParticipantPatchRequest", "Policy", "RemoveRequest",
}

// controlNamed has off name the extension.
const controlNamed = "+control"

func TestDocumentIsTheTenants(t *testing.T) {
	docs := []string{"GET docs", "GET docs/openapi.json", "GET docs/openapi.yaml"}
	for _, tc := range []struct {
		reason  string
		variant v1alpha1.Variant
		off     []string
		want    []string
		schemas []string
	}{
		{
			"variant A, all on", v1alpha1.VariantA, nil,
			[]string{"GET stats", "GET meetings", "POST meeting", "DELETE meeting/{room}", "POST join", "POST token"},
			slices.DeleteFunc(slices.Collect(maps.Keys(described().at("components", "schemas"))), func(name string) bool { return slices.Contains(controlSchemas, name) }),
		},
		{
			"variant B, the extension alone", v1alpha1.VariantB, []string{"stats", "meetings", "meeting", "join", "token", controlNamed},
			[]string{
				"GET meeting/{room}", "PATCH meeting/{room}", "GET meeting/{room}/participants", "PATCH meeting/{room}/participants/{identity}",
				"DELETE meeting/{room}/participants/{identity}", "POST meeting/{room}/announcements",
			},
			append([]string{"Room", "Flag", "None", "Duration", "Redirect", "Peer", "Error"}, controlSchemas...),
		},
		{
			"variant B, all on", v1alpha1.VariantB, nil,
			[]string{"GET stats", "GET meetings", "POST meeting", "POST join", "POST token"},
			[]string{
				"Room", "Flag", "None", "Duration", "RoomPassword", "Redirect", "MeetingRequest", "JoinRequest", "TokenRequest", "Stats", "MeetingList",
				"Meeting", "Peer", "PeerByRoom", "MeetingLink", "JoinLink", "Token", "Error",
			},
		},
		{
			"variant A, little on", v1alpha1.VariantA, []string{"meetings", "meeting", "join", "token"},
			[]string{"GET stats"}, []string{"Stats", "Error"},
		},
		{
			"variant B, join off", v1alpha1.VariantB, []string{"join", "meeting"},
			[]string{"GET stats", "GET meetings", "POST token"},
			[]string{"Flag", "TokenRequest", "Stats", "MeetingList", "Meeting", "Peer", "PeerByRoom", "Token", "Error"},
		},
	} {
		w := newWorld(t, testTenant(tc.variant, off(tc.off...))).serve()
		var inJSON, inYAML map[string]any
		if err := json.Unmarshal([]byte(w.do(http.MethodGet, "docs/openapi.json", "").body), &inJSON); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(w.do(http.MethodGet, "docs/openapi.yaml", "").body), &inYAML); err != nil {
			t.Fatal(err)
		}
		want := append(slices.Clone(docs), tc.want...)
		slices.Sort(want)
		if diff := cmp.Diff(want, operations(t, inJSON)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
		schemas := slices.Sorted(maps.Keys(inJSON["components"].(map[string]any)["schemas"].(map[string]any)))
		slices.Sort(tc.schemas)
		if diff := cmp.Diff(tc.schemas, schemas); diff != "" {
			t.Errorf("%s, schemas (-want +got):\n%s", tc.reason, diff)
		}
		if diff := cmp.Diff(roundTrip(t, inYAML), roundTrip(t, inJSON)); diff != "" {
			t.Errorf("%s: JSON and YAML differ:\n%s", tc.reason, diff)
		}
		if diff := cmp.Diff([]any{map[string]any{"url": baseURL}}, inJSON["servers"]); diff != "" {
			t.Errorf("%s, servers (-want +got):\n%s", tc.reason, diff)
		}
		if text := fmt.Sprint(inJSON); strings.Contains(text, extensionPrefix) {
			t.Errorf("%s: it shows our own extensions: %s", tc.reason, text)
		}
	}
}

func roundTrip(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	return again
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

func TestDocumentFollowsTheSwitches(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	before := operations(t, w.do(http.MethodGet, "docs/openapi.json", "").json(t))
	w.hosts[host] = testTenant(v1alpha1.VariantA, off("join"))
	after := operations(t, w.do(http.MethodGet, "docs/openapi.json", "").json(t))
	if !slices.Contains(before, "POST join") || slices.Contains(after, "POST join") {
		t.Errorf("before %v, after %v", before, after)
	}
}

// TestDocumentsAreShared: tenants differ in their base URLs, and a document takes five milliseconds to make.
func TestDocumentsAreShared(t *testing.T) {
	d := newDocuments()
	for _, base := range []string{"https://a.example.com", "https://b.example.com:8443/meet?x='1'&y"} {
		one, err := d.of(testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.BaseURL = base }))
		if err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string][]byte{"JSON": one.json, "YAML": one.yaml} {
			var read struct{ Servers []struct{ URL string } }
			if err := yaml.Unmarshal(slices.Concat(withBase(text, base)...), &read); err != nil || len(read.Servers) != 1 || read.Servers[0].URL != base {
				t.Errorf("%s of %s: %v, %v", form, base, read, err)
			}
		}
	}
	if len(d.made) != 1 {
		t.Errorf("%d documents were made", len(d.made))
	}
}

// TestPage follows every link of the page, and finds all of it at home.
func TestPage(t *testing.T) {
	one := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Web.BrandName = `<Ada & "Co">` })
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

func TestBrokenDocumentIsAnError(t *testing.T) {
	for reason, source := range map[string]string{"an alias": "a: &x 1\nb: *x\n"} {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(source), &root); err != nil {
			t.Fatal(err)
		}
		if text, err := appendJSON(nil, root.Content[0]); err == nil {
			t.Errorf("%s: %s", reason, text)
		}
	}
}
