// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"convene.dev/convene/internal/tenant"
)

// addSlash leads from a base path to the home page, against which the page's links are resolved.
func (q *Request) addSlash() (Answer, error) {
	if q.HTTP.Method != http.MethodGet && q.HTTP.Method != http.MethodHead {
		return nil, methodNotAllowed("GET, HEAD")
	}
	return Redirect("/"), nil
}

// cutBasePath takes the tenant's base path from the URL, and reports whether it was there.
func (q *Request) cutBasePath() bool {
	if q.Tenant == nil || q.Tenant.BasePath == "" {
		return true
	}
	base := EscapedBasePath(q.Tenant)
	decoded, ok := strings.CutPrefix(q.HTTP.URL.Path, q.Tenant.BasePath)
	raw, rawOK := strings.CutPrefix(q.HTTP.URL.EscapedPath(), base)
	if !ok || !rawOK || raw != "" && raw[0] != '/' {
		return false
	}
	q.setPath(decoded, raw)
	return true
}

// setPath has the request be one for another path, without a change of the one that came.
func (q *Request) setPath(decoded, raw string) {
	r, u := *q.HTTP, *q.HTTP.URL
	u.Path, u.RawPath = decoded, raw
	r.URL = &u
	q.HTTP = &r
}

// trimSlash takes the slash from the end of a path.
func (q *Request) trimSlash() {
	decoded, ok := strings.CutSuffix(q.HTTP.URL.Path, "/")
	if raw, rawOK := strings.CutSuffix(q.HTTP.URL.EscapedPath(), "/"); ok && rawOK {
		q.setPath(decoded, raw)
	}
}

// meantPath is the path by which the surface of a request is chosen: below the tenant's base path if it is there, and cleaned if no
// route has it as it is.
func (q *Request) meantPath() string {
	path := q.HTTP.URL.Path
	if escaped := q.HTTP.URL.EscapedPath(); escaped != cleaned(escaped) {
		path = cleaned(path)
	}
	if q.Tenant != nil {
		if below := strings.TrimPrefix(path, q.Tenant.BasePath); strings.HasPrefix(below, "/") {
			return below
		}
	}
	return path
}

// canonical is the path of the page that an escaped path means: as it is written but for the case of the route's fixed parts, empty
// segments and a slash at its end.
func (s *Surface) canonical(escaped string) (path string, ok bool) {
	segments := segmentsOf(escaped)
	if slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return "", false
	}
	most := -1
	for _, r := range s.Routes {
		if written, fixed := writeAs(segmentsOf(strings.TrimSuffix(r.Path, "{$}")), segments); fixed > most {
			path, ok, most = "/"+strings.Join(written, "/"), r.Page, fixed
		}
	}
	return path, ok
}

func segmentsOf(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// writeAs writes the segments of a path as a pattern has its fixed ones, and counts these; -1 where the path does not fit.
func writeAs(pattern, segments []string) (written []string, fixed int) {
	if len(pattern) != len(segments) {
		return nil, -1
	}
	for i, part := range pattern {
		switch {
		case strings.HasPrefix(part, "{"):
			part = segments[i]
		case strings.EqualFold(part, segments[i]):
			fixed++
		default:
			return nil, -1
		}
		written = append(written, part)
	}
	return written, fixed
}

// cleaned is a path without the segments . and .. and without empty ones.
func cleaned(escaped string) string {
	clean := path.Clean(escaped)
	if strings.HasSuffix(escaped, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// EscapedBasePath is a tenant's base path as it is written in URLs: empty, or with a slash in front.
func EscapedBasePath(t *tenant.Tenant) string { return (&url.URL{Path: t.BasePath}).EscapedPath() }
