// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

// docsPage is GET docs: the interactive page. It may talk to the API and to no other server.
func (c *call) docsPage() (answer, error) {
	if !built() {
		return nil, errNotBuilt
	}
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, map[string]string{
		"Base":  c.tenant.BasePath + prefix + "docs",
		"Brand": brand(c.tenant),
	})
	if err != nil {
		return nil, err
	}
	return file{contentType: "text/html; charset=utf-8", policy: pagePolicy(c.tenant.BaseURL), data: page.Bytes()}, nil
}

var pageTemplate = template.Must(template.ParseFS(pageFiles, "docsui/page.html"))

func brand(t *tenant.Tenant) string {
	if t.Web.BrandName == "" {
		return "Convene"
	}
	return t.Web.BrandName
}

// errNotBuilt says which step of the build was left out.
var errNotBuilt = &fault.Error{
	Kind: fault.KindInternal, Reason: "NotBuilt",
	Message: "The documentation page was left out when this binary was built; build it again with make web before go build",
}

// pagePolicy lets the page run its own scripts and call the API, at its own address and at the base URL's.
func pagePolicy(baseURL string) string {
	api := "'self'"
	if u, err := url.Parse(baseURL); err == nil && !strings.ContainsAny(u.Host, ";, '\"") {
		api += " " + u.Scheme + "://" + u.Host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " + api +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// docsJSON is GET docs/openapi.json.
func (c *call) docsJSON() (answer, error) {
	d, err := c.documents.of(c.tenant)
	if err != nil {
		return nil, err
	}
	return file{contentType: "application/json", data: d.json}, nil
}

// docsYAML is GET docs/openapi.yaml.
func (c *call) docsYAML() (answer, error) {
	d, err := c.documents.of(c.tenant)
	if err != nil {
		return nil, err
	}
	return file{contentType: "application/yaml", data: d.yaml}, nil
}

// docsAsset is GET docs/assets/{file}.
func (c *call) docsAsset() (answer, error) {
	if !built() {
		return nil, errNotBuilt
	}
	asset, ok := assets[c.parameter]
	if !ok {
		return nil, errUnknownPath
	}
	return asset.to(c.r)
}

// file is an answer that is there already.
type file struct {
	contentType string
	// policy is the Content-Security-Policy of a page.
	policy string
	// gzipped says that data is compressed.
	gzipped bool
	data    []byte
}

func (f file) head(h http.Header) int {
	h.Set("Content-Type", f.contentType)
	policy := f.policy
	if policy == "" {
		policy = "default-src 'none'; frame-ancestors 'none'"
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), display-capture=(), geolocation=()")
	if f.gzipped {
		h.Set("Content-Encoding", "gzip")
	}
	return http.StatusOK
}

func (f file) body(e *encoder) { e.bytes(f.data) }
