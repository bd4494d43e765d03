// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"convene.dev/convene/internal/tenant"
)

// openapiSource describes the whole surface, of both variants. Two extensions say what belongs to whom:
// x-convene-endpoint names the switch of an operation, x-convene-variant the only variant that has something.
//
//go:embed openapi.yaml
var openapiSource []byte

// document is what the clients of tenants read, with anyBase in the place of their base URL.
type document struct{ json, yaml []byte }

// documents makes the documents of tenants, and keeps them: a request for them needs no secret, so it must be cheap. There are fewer
// than two hundred, as many as there are choices of endpoints.
type documents struct {
	mu   sync.Mutex
	made map[string]document
}

func newDocuments() *documents { return &documents{made: map[string]document{}} }

// anyBase stands for the base URL of a tenant, quoted as JSON and YAML quote it.
const anyBase = `"https://base-url.invalid"`

// withBase is the text of a document with a base URL, in three parts: a copy of 60 kB for each request would be out of proportion.
func withBase(text []byte, base string) [][]byte {
	before, after, _ := bytes.Cut(text, []byte(anyBase))
	quoted, _ := json.Marshal(base) // A string has no error.
	return [][]byte{before, quoted, after}
}

// of returns the document limited to the endpoints of the tenant that are on.
func (d *documents) of(t *tenant.Tenant) (document, error) {
	key := documentKey(t)
	d.mu.Lock()
	defer d.mu.Unlock()
	if made, ok := d.made[key]; ok {
		return made, nil
	}
	made, err := makeDocument(t)
	if err == nil {
		d.made[key] = made
	}
	return made, err
}

// documentKey holds everything of a tenant that its document depends on, beside its base URL.
func documentKey(t *tenant.Tenant) string {
	var b strings.Builder
	b.WriteString(string(t.Variant))
	for _, e := range tenant.Endpoints(t.Variant) {
		if t.Enabled(e) {
			b.WriteString(" " + string(e))
		}
	}
	return b.String()
}

func makeDocument(t *tenant.Tenant) (document, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(openapiSource, &root); err != nil {
		return document{}, err
	}
	top := root.Content[0]
	limitTo(t, top)
	dropExtensions(top)
	dropUnused(top)
	servers := entry(top, "servers")
	if err := servers.Encode([]map[string]string{{"url": strings.Trim(anyBase, `"`)}}); err != nil {
		return document{}, err
	}
	entry(servers.Content[0], "url").Style = yaml.DoubleQuotedStyle
	text, err := yaml.Marshal(&root)
	if err != nil {
		return document{}, err
	}
	data, err := appendJSON(nil, top)
	return document{json: data, yaml: text}, err
}
