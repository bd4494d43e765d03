// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/tenant"
)

// The documents are made of openapi.yaml by make generate.
var (
	//go:embed openapi/openapi-a.json
	inJSONOfA []byte
	//go:embed openapi/openapi-a.yaml
	inYAMLOfA []byte
	//go:embed openapi/openapi-b.json
	inJSONOfB []byte
	//go:embed openapi/openapi-b.yaml
	inYAMLOfB []byte
)

var documents = map[v1alpha1.Variant]struct{ json, yaml []byte }{
	v1alpha1.VariantA: {inJSONOfA, inYAMLOfA},
	v1alpha1.VariantB: {inJSONOfB, inYAMLOfB},
}

// The documents of all tenants have summary and anyBaseURL, each once in this way.
const summary, anyBaseURL = `"Rooms, meetings, direct-join links and tokens, for a trusted backend."`, `"https://meet.example.com"`

// of is a document with the tenant's base URL and what is switched off, in parts: a copy of 50 kB for each request would be out of
// proportion.
func of(t *tenant.Tenant, document []byte) [][]byte {
	before, rest, _ := bytes.Cut(document, []byte(summary))
	between, after, _ := bytes.Cut(rest, []byte(anyBaseURL))
	text := strings.Trim(summary, `"`)
	var off []string
	for _, e := range tenant.Endpoints(t.Variant) {
		if !t.Enabled(e) {
			off = append(off, string(e))
		}
	}
	if len(off) > 0 {
		text += " Switched off here: " + strings.Join(off, ", ") + "."
	}
	return [][]byte{before, quoted(text), between, quoted(t.BaseURL), after}
}

// quoted is a string as JSON and YAML quote it.
func quoted(s string) []byte {
	text, _ := json.Marshal(s) // A string has no error.
	return text
}
