// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"net/http"
	"strings"
)

//go:embed docsui/page.html docsui/page.js docsui/page.css
var pageFiles embed.FS

// distFiles is empty but for .gitignore until npm run build has filled it.
//
//go:embed all:docsui/dist
var distFiles embed.FS

// asset is one file of the page. Those from npm are embedded compressed: all that is in the binary of them.
type asset struct {
	files       embed.FS
	path        string
	contentType string
	gzipped     bool
}

const (
	typeCSS    = "text/css; charset=utf-8"
	typeScript = "text/javascript; charset=utf-8"
)

// assets are what docs/assets/{file} serves.
var assets = map[string]asset{
	"page.css":             {pageFiles, "docsui/page.css", typeCSS, false},
	"page.js":              {pageFiles, "docsui/page.js", typeScript, false},
	"swagger-ui.css":       {distFiles, "docsui/dist/swagger-ui.css.gz", typeCSS, true},
	"swagger-ui-bundle.js": {distFiles, "docsui/dist/swagger-ui-bundle.js.gz", typeScript, true},
}

// built reports whether all of the page is in the binary.
func built() bool {
	for _, a := range assets {
		f, err := a.files.Open(a.path)
		if err != nil {
			return false
		}
		_ = f.Close()
	}
	return true
}

// to is the asset as a client can read it.
func (a asset) to(r *http.Request) (answer, error) {
	data, err := a.files.ReadFile(a.path)
	if err != nil {
		return nil, err
	}
	if !a.gzipped || strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return compressible{file{contentType: a.contentType, gzipped: a.gzipped, data: data}}, nil
	}
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if data, err = io.ReadAll(plain); err != nil {
		return nil, err
	}
	return compressible{file{contentType: a.contentType, data: data}}, nil
}

// compressible is a file that depends on what the client can read.
type compressible struct{ file }

func (f compressible) head(h http.Header) int {
	h.Set("Vary", "Origin, Accept-Encoding")
	return f.file.head(h)
}
