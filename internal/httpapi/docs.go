// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// docsPage is GET docs: the interactive page. It may talk to the API and to no other server.
func (*api) docsPage(q *httpserver.Request) (httpserver.Answer, error) {
	if !built() {
		return nil, errNotBuilt
	}
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, map[string]string{
		"Base":  q.Tenant.BasePath + prefix + "docs",
		"Brand": q.Tenant.Web.Brand.Name,
	})
	if err != nil {
		return nil, err
	}
	return file("text/html; charset=utf-8", pagePolicy(q.Tenant.BaseURL), page.Bytes()), nil
}

var pageTemplate = template.Must(template.ParseFS(pageFiles, "docsui/page.html"))

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
func (*api) docsJSON(q *httpserver.Request) (httpserver.Answer, error) {
	return file("application/json", filePolicy, of(q.Tenant, documents[q.Tenant.Variant].json)...), nil
}

// docsYAML is GET docs/openapi.yaml.
func (*api) docsYAML(q *httpserver.Request) (httpserver.Answer, error) {
	return file("application/yaml", filePolicy, of(q.Tenant, documents[q.Tenant.Variant].yaml)...), nil
}

// docsAsset is GET docs/assets/{file}.
func (a *api) docsAsset(q *httpserver.Request) (httpserver.Answer, error) {
	if !built() {
		return nil, errNotBuilt
	}
	answer, ok, err := a.assets.Answer(q, q.HTTP.PathValue("file"), fileHeader("", filePolicy))
	if !ok {
		return nil, errUnknownPath
	}
	return answer, err
}

// filePolicy is the Content-Security-Policy of what is no page.
const filePolicy = "default-src 'none'; frame-ancestors 'none'"

// file is an answer that is there already.
func file(contentType, policy string, parts ...[]byte) httpserver.Answer {
	return httpserver.Bytes{Header: fileHeader(contentType, policy), Data: parts}
}

// fileHeader is the header of a file. With no content type, it is left to be set.
func fileHeader(contentType, policy string) http.Header {
	h := http.Header{
		"Content-Security-Policy":    {policy},
		"Referrer-Policy":            {"no-referrer"},
		"Cross-Origin-Opener-Policy": {"same-origin"},
		"Permissions-Policy":         {"camera=(), microphone=(), display-capture=(), geolocation=()"},
	}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	return h
}
