// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	_ "embed"
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

// document is what one tenant's clients read.
type document struct{ json, yaml []byte }

// documents makes the documents of tenants, and keeps them: a request for them needs no secret, so it must be cheap.
type documents struct {
	mu   sync.Mutex
	made map[string]document
}

// maxDocuments bounds what is kept; a tenant has another one with every change of its switches.
const maxDocuments = 128

func newDocuments() *documents { return &documents{made: map[string]document{}} }

// of returns the document limited to the endpoints of the tenant that are on.
func (d *documents) of(t *tenant.Tenant) (document, error) {
	key := documentKey(t)
	d.mu.Lock()
	defer d.mu.Unlock()
	if made, ok := d.made[key]; ok {
		return made, nil
	}
	made, err := makeDocument(t)
	if err != nil {
		return document{}, err
	}
	if len(d.made) >= maxDocuments {
		clear(d.made)
	}
	d.made[key] = made
	return made, nil
}

// documentKey holds everything of a tenant that its document depends on.
func documentKey(t *tenant.Tenant) string {
	var b strings.Builder
	b.WriteString(string(t.Variant))
	for _, e := range tenant.Endpoints(t.Variant) {
		if t.Enabled(e) {
			b.WriteString(" " + string(e))
		}
	}
	return b.String() + " " + t.BaseURL
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
	if err := entry(top, "servers").Encode([]map[string]string{{"url": t.BaseURL}}); err != nil {
		return document{}, err
	}
	text, err := yaml.Marshal(&root)
	if err != nil {
		return document{}, err
	}
	data, err := appendJSON(nil, top)
	return document{json: data, yaml: text}, err
}
