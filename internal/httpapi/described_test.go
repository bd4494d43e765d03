// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/tenant"
)

// described is openapi.yaml, of both variants, ready to hold requests and responses against.
var described = sync.OnceValue(func() *description {
	source, err := os.ReadFile("openapi.yaml")
	if err != nil {
		panic(err)
	}
	text, err := yaml.YAMLToJSON(source)
	if err != nil {
		panic(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	d := &description{root: value.(map[string]any), compiler: jsonschema.NewCompiler()}
	d.closeResponses()
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource("openapi.json", d.root); err != nil {
		panic(err)
	}
	return d
})

// endpointExtension names the switch of an operation.
const endpointExtension = "x-convene-endpoint"

type description struct {
	root     map[string]any
	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

// closeResponses lets nothing pass in responses that is not described. Clients are told no such thing, so that more can
// be added.
func (d *description) closeResponses() {
	for name, schema := range d.at("components", "schemas") {
		schema := schema.(map[string]any)
		if schema["type"] == "object" && !strings.HasSuffix(name, "Request") {
			schema["additionalProperties"] = false
		}
	}
}

// at walks down objects from the top.
func (d *description) at(keys ...string) map[string]any { return d.from(d.root, keys...) }

// from walks down objects; references are followed.
func (d *description) from(value map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		value, _ = value[key].(map[string]any)
		if ref, ok := value["$ref"].(string); ok {
			value = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	}
	return value
}

// operation finds what describes a request, and where it stands.
func (d *description) operation(method, path string) (map[string]any, []string) {
	for template := range d.at("paths") {
		parts, wanted := strings.Split(path, "/"), strings.Split(template, "/")
		same := func(part, want string) bool { return part == want || part != "" && strings.HasPrefix(want, "{") }
		if !slices.EqualFunc(parts, wanted, same) {
			continue
		}
		where := []string{"paths", template, strings.ToLower(method)}
		if operation := d.at(where...); operation != nil {
			return operation, where
		}
	}
	return nil, nil
}

// validate holds a JSON text against the schema at a place of the document.
func (d *description) validate(text string, where ...string) error {
	steps := []string{"openapi.json#"}
	for _, key := range where {
		steps = append(steps, strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	pointer := strings.Join(steps, "/")
	d.mu.Lock()
	schema, err := d.compiler.Compile(pointer)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// checkDescribed fails the test when the document does not describe the response, down to every property.
func checkDescribed(t testing.TB, r *http.Request, got response) {
	t.Helper()
	d := described()
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
		if have := got.header.Get(name); have != want {
			t.Errorf("%s %s: %s is %q, want %q", r.Method, r.URL.Path, name, have, want)
		}
	}
	if got.header.Get("X-Request-Id") == "" || !strings.Contains(got.header.Get("Vary"), "Origin") {
		t.Errorf("%s %s: no X-Request-Id, or no Vary: Origin, in %v", r.Method, r.URL.Path, got.header)
	}
	if r.Method == http.MethodOptions || r.Method == http.MethodHead {
		return
	}
	escaped := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	operation, where := d.operation(r.Method, strings.TrimPrefix(escaped, "/video"))
	if operation == nil || got.status == http.StatusMethodNotAllowed {
		if strings.Contains(escaped, "/docs/assets/") && got.status == http.StatusOK {
			return // What the page is made of is no part of the API.
		}
		if got.status < 400 {
			t.Errorf("%s %s: status %d of something that the document does not have", r.Method, r.URL.Path, got.status)
		}
		checkError(t, r, got)
		return
	}
	status := strconv.Itoa(got.status)
	answer := d.from(operation, "responses", status)
	if answer == nil {
		t.Errorf("%s %s: the document does not have status %s", r.Method, r.URL.Path, status)
		return
	}
	contentType, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	content, ok := answer["content"].(map[string]any)[contentType].(map[string]any)
	if !ok {
		t.Errorf("%s %s: status %s with the undescribed content type %q", r.Method, r.URL.Path, status, contentType)
		return
	}
	if headers, ok := answer["headers"].(map[string]any); ok {
		for name := range headers {
			if got.header.Get(name) == "" {
				t.Errorf("%s %s: status %s without the header %s", r.Method, r.URL.Path, status, name)
			}
		}
	}
	if _, typed := content["schema"]; !typed {
		return
	}
	place := slices.Concat(where, []string{"responses", status})
	if ref, ok := d.from(operation, "responses")[status].(map[string]any)["$ref"].(string); ok {
		place = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	}
	if err := d.validate(got.body, append(place, "content", contentType, "schema")...); err != nil {
		t.Errorf("%s %s: status %s, body %s: %v", r.Method, r.URL.Path, status, got.body, err)
	}
}

// checkError fails the test when the body is not that of an error.
func checkError(t testing.TB, r *http.Request, got response) {
	t.Helper()
	if contentType := got.header.Get("Content-Type"); contentType != "application/json" {
		t.Errorf("%s %s: status %d with content type %q", r.Method, r.URL.Path, got.status, contentType)
	}
	if err := described().validate(got.body, "components", "schemas", "Error"); err != nil {
		t.Errorf("%s %s: status %d, body %q: %v", r.Method, r.URL.Path, got.status, got.body, err)
	}
}

func TestRoutesAndDocumentAgree(t *testing.T) {
	type line struct{ method, path, endpoint string }
	var inDocument, inRoutes []line
	for path, item := range described().at("paths") {
		for method, operation := range item.(map[string]any) {
			if method == "parameters" {
				continue
			}
			endpoint, _ := operation.(map[string]any)[endpointExtension].(string)
			inDocument = append(inDocument, line{strings.ToUpper(method), strings.TrimPrefix(path, prefix), endpoint})
		}
	}
	for _, r := range New(Options{}).Routes {
		if r.Path == prefix+"docs/assets/{file}" {
			continue // What the page is made of is no part of the API.
		}
		inRoutes = append(inRoutes, line{r.Method, strings.TrimPrefix(r.Path, prefix), string(r.Endpoint)})
	}
	for _, l := range inRoutes {
		if !slices.Contains(inDocument, l) {
			t.Errorf("the document lacks %+v", l)
		}
	}
	for _, l := range inDocument {
		if !slices.Contains(inRoutes, l) {
			t.Errorf("the document has %+v, and there is no such route", l)
		}
	}
}

func TestEverySwitchHasARoute(t *testing.T) {
	for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
		for _, endpoint := range tenant.Endpoints(variant) {
			if !slices.ContainsFunc(New(Options{}).Routes, func(r httpserver.Route) bool { return r.Endpoint == endpoint }) {
				t.Errorf("variant %s switches %s, and there is no route of that name", variant, endpoint)
			}
		}
	}
}

func TestOnlyDocumentationNeedsNoKey(t *testing.T) {
	for path, item := range described().at("paths") {
		for method, operation := range item.(map[string]any) {
			if method == "parameters" {
				continue
			}
			operation := operation.(map[string]any)
			_, open := operation["security"]
			if open != (operation[endpointExtension] == "docs") {
				t.Errorf("%s %s: needs no key: %v", method, path, open)
			}
		}
	}
}

func TestExamplesAreValid(t *testing.T) {
	d := described()
	examples := 0
	check := func(example any, where ...string) {
		examples++
		text, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.validate(string(text), where...); err != nil {
			t.Errorf("%v: %v", where, err)
		}
	}
	for name, schema := range d.at("components", "schemas") {
		if example, ok := schema.(map[string]any)["example"]; ok {
			check(example, "components", "schemas", name)
		}
	}
	for name := range d.at("components", "responses") {
		check(d.at("components", "responses", name, "content", "application/json")["example"],
			"components", "responses", name, "content", "application/json", "schema")
	}
	if examples < 20 {
		t.Errorf("only %d examples", examples)
	}
}

// allErrors are the messages of errors that the document gives as examples: they should be real ones.
func TestErrorExamplesAreReal(t *testing.T) {
	for name, want := range map[string]error{
		"Refused": errUnauthorized, "Unknown": errUnknownPath, "TooSlow": httpserver.ErrTooSlow, "TooLarge": httpserver.ErrTooLarge(httpserver.MaxBody), "Unavailable": httpserver.ErrTimeout,
	} {
		example := described().at("components", "responses", name, "content", "application/json", "example")
		if got := fmt.Sprint(example["error"]); got != want.Error() {
			t.Errorf("%s: the document says %q, the API says %q", name, got, want)
		}
	}
}

// TestEveryMemberIsDescribed holds the members of requests and answers against the document, and which members an answer always has.
func TestEveryMemberIsDescribed(t *testing.T) {
	for schema, body := range map[string]any{
		"JoinRequest": passwordJoinRequest{}, "TokenRequest": tokenRequest{}, "MeetingRequest": createRequest{}, "EndRequest": endRequest{},
		"MeetingPatchRequest": meetingPatch{}, "ParticipantPatchRequest": participantPatch{}, "RemoveRequest": removeRequest{},
		"AnnouncementRequest": announceRequest{}, "Stats": statsBody{}, "Meeting": meetingBody{}, "MeetingDetails": meetingDetails{}, "Peer": peerBody{},
		"PeerByRoom": peerByRoom{}, "ParticipantList": participantList{}, "Participant": participantBody{}, "Media": mediaBody{}, "Done": doneBody{},
		"Policy": v1alpha1.MeetingPolicy{}, "MeetingLink": createBody{}, "JoinLink": joinBody{}, "Token": tokenBody{}, "Ended": endBody{}, "Ending": endBody{},
		"EndError": noMeetingBody{}, "Error": errorBody{},
	} {
		var members, required []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(body)) {
			if f.Anonymous {
				continue // Its fields follow.
			}
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			members = append(members, name)
			if options == "" || schema == "Policy" { // WholePolicy names all.
				required = append(required, name)
			}
		}
		slices.Sort(members)
		described := described().at("components", "schemas", schema)
		properties, _ := described["properties"].(map[string]any)
		if diff := cmp.Diff(members, slices.Sorted(maps.Keys(properties))); diff != "" {
			t.Errorf("%s (-in the struct +described):\n%s", schema, diff)
		}
		if strings.HasSuffix(schema, "Request") {
			continue
		}
		slices.Sort(required)
		if diff := cmp.Diff(required, sortedTexts(described["required"])); diff != "" {
			t.Errorf("%s, members of every answer (-in the struct +described):\n%s", schema, diff)
		}
	}
}

func sortedTexts(list any) []string {
	var texts []string
	all, _ := list.([]any)
	for _, text := range all {
		texts = append(texts, fmt.Sprint(text))
	}
	return slices.Sorted(slices.Values(texts))
}

// TestWordsAreDescribed holds the words of requests against the enumerations of the document: a generated client has nothing else.
func TestWordsAreDescribed(t *testing.T) {
	sources := slices.Sorted(slices.Values(allSources))
	for _, tc := range []struct {
		where []string
		words any
	}{
		{[]string{"AudiencePatch"}, audiences}, {[]string{"Audience"}, audiences}, {[]string{"Admission"}, admissions},
		{[]string{"MeetingPatchRequest", "properties", "admission"}, admissions},
		{[]string{"ParticipantPatchRequest", "properties", "role"}, roles}, {[]string{"Participant", "properties", "role"}, roles},
		{[]string{"ParticipantPatchRequest", "properties", "sources", "items"}, sources},
		{[]string{"ParticipantPatchRequest", "properties", "grantedSources", "items"}, sources},
		{[]string{"Participant", "properties", "sources", "items"}, sources}, {[]string{"Participant", "properties", "grantedSources", "items"}, sources},
	} {
		described := described().at(append([]string{"components", "schemas"}, tc.where...)...)
		want := fmt.Sprint(tc.words)
		got := sortedTexts(slices.DeleteFunc(slices.Clone(described["enum"].([]any)), func(word any) bool { return word == nil }))
		if want := slices.Sorted(slices.Values(strings.Fields(strings.Trim(want, "[]")))); !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", tc.where, got, want)
		}
	}
}

// TestParametersAreDescribed holds the parameters of queries, and the content types of bodies, against what is read.
func TestParametersAreDescribed(t *testing.T) {
	page := map[string]any{"limit": json.Number(strconv.Itoa(maxPage)), "after": nil}
	queries := map[string]map[string]any{
		"GET meetings": page, "GET meeting/{room}/participants": page,
		"DELETE meeting/{room}": {"redirect": nil}, "DELETE meeting/{room}/participants/{identity}": {"ban": nil},
	}
	for path, item := range described().at("paths") {
		item := item.(map[string]any)
		for method, operation := range item {
			operation, ok := operation.(map[string]any)
			if !ok {
				continue // These are the parameters of all methods.
			}
			name := strings.ToUpper(method) + " " + strings.TrimPrefix(path, prefix)
			var got map[string]any
			for _, list := range []any{item["parameters"], operation["parameters"]} {
				list, _ := list.([]any)
				for _, p := range list {
					if p := p.(map[string]any); p["in"] == "query" {
						if got == nil {
							got = map[string]any{}
						}
						got[p["name"].(string)] = p["schema"].(map[string]any)["maximum"]
					}
				}
			}
			if diff := cmp.Diff(queries[name], got); diff != "" {
				t.Errorf("%s (-read +described):\n%s", name, diff)
			}
			body, ok := operation["requestBody"].(map[string]any)
			if !ok {
				continue
			}
			types := []string{"application/json", "application/x-www-form-urlencoded"}
			if name == "PATCH meeting/{room}/participants/{identity}" {
				types = types[:1] // A form has no lists.
			}
			if diff := cmp.Diff(types, slices.Sorted(maps.Keys(body["content"].(map[string]any)))); diff != "" {
				t.Errorf("%s, content types (-want +described):\n%s", name, diff)
			}
		}
	}
}

// TestDefaultsAreDescribed sends each default of the document, and nothing, and compares what is done.
func TestDefaultsAreDescribed(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	defaults := 0
	for endpoint, target := range scalarTargets {
		for _, name := range membersOf(endpoint) {
			value, ok := described().at("components", "schemas", target.schema, "properties", name)["default"]
			if !ok {
				continue
			}
			defaults++
			if said, want := w.said(endpoint, with(target.whole, name, value)), w.said(endpoint, target.whole); said != want {
				t.Errorf("%s %s: %v is described as its default: %s\nwithout it: %s", endpoint, name, value, said, want)
			}
			if said, other := w.said(endpoint, with(target.whole, name, value != true)), w.said(endpoint, target.whole); name == "chat" && said == other {
				t.Errorf("%s %s: %v is as its default: %s", endpoint, name, value != true, said)
			}
		}
	}
	if defaults < 8 {
		t.Errorf("the document has %d defaults", defaults)
	}
}
