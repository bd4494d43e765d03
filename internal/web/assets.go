// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// assets are the built scripts, styles and images, by file name.
type assets map[string]*asset

// asset is one file in every encoding that the build made of it.
type asset struct {
	contentType string
	plain       []byte
	// br and gz are nil where they were not built.
	br, gz []byte
}

// contentTypes do not depend on the machine, as package mime's do.
var contentTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".wasm":        "application/wasm",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

func loadAssets(dist fs.FS) (assets, error) {
	entries, err := fs.ReadDir(dist, "assets")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("web: the room page's scripts are not built into this binary: run `make web` and build again")
	}
	if err != nil {
		return nil, err
	}
	out := assets{}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || isEncoded(name) {
			continue
		}
		a := &asset{contentType: contentTypeOf(name)}
		for suffix, to := range map[string]*[]byte{"": &a.plain, ".br": &a.br, ".gz": &a.gz} {
			*to, err = fs.ReadFile(dist, "assets/"+name+suffix)
			if err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
				return nil, err
			}
		}
		out[name] = a
	}
	return out, nil
}

func isEncoded(name string) bool { return slices.Contains([]string{".br", ".gz"}, path.Ext(name)) }

func contentTypeOf(name string) string {
	ext := path.Ext(name)
	if t := contentTypes[ext]; t != "" {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "application/octet-stream"
}

// serveAsset serves a file whose name holds a hash of its content, so that it never changes.
func (h *handler) serveAsset(v *visit) error {
	a := h.assets[v.rest]
	if a == nil {
		writePlainPage(v.w, http.StatusNotFound, "There is no such file; load the page again")
		return nil
	}
	body, encoding := a.accepted(v.r.Header.Values("Accept-Encoding"))
	header := v.w.Header()
	header.Set("Content-Type", a.contentType)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	_, _ = v.w.Write(body)
	return nil
}

// accepted picks the smallest that the client takes.
func (a *asset) accepted(acceptEncoding []string) (body []byte, encoding string) {
	switch {
	case a.br != nil && accepts(acceptEncoding, "br"):
		return a.br, "br"
	case a.gz != nil && accepts(acceptEncoding, "gzip"):
		return a.gz, "gzip"
	}
	return a.plain, ""
}

// accepts reports whether Accept-Encoding (RFC 9110, section 12.5.3) names the coding without refusing it. A * is not
// taken for one: no browser sends that.
func accepts(values []string, coding string) bool {
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			name, parameter, _ := strings.Cut(item, ";")
			if !strings.EqualFold(strings.TrimSpace(name), coding) {
				continue
			}
			_, weight, given := strings.Cut(parameter, "=")
			if !given {
				return true
			}
			q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
			return err == nil && q > 0
		}
	}
	return false
}
