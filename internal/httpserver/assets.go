// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"convene.dev/convene/internal/fault"
)

// Assets are built scripts, styles and images, by file name.
type Assets map[string]*Asset

// Asset is one file in every encoding that the build made of it.
type Asset struct {
	contentType string
	// forms are by the ending of an encoding, .br or .gz, and empty for the file as it is.
	forms map[string][]byte
}

// contentTypes do not depend on the machine, as package mime's do.
var contentTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".svg":         "image/svg+xml",
	".ts":          "text/plain; charset=utf-8",
	".txt":         "text/plain; charset=utf-8",
	".wasm":        "application/wasm",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

// LoadAssets reads the files of a folder. A file name.br or name.gz is an encoding of the asset name, which need not be
// there in plain.
func LoadAssets(files fs.FS, folder string) (Assets, error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return nil, err
	}
	all := Assets{}
	for _, entry := range entries {
		if entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		data, err := fs.ReadFile(files, path.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		name, encoding := entry.Name(), ""
		if ext := path.Ext(name); ext == ".br" || ext == ".gz" {
			name, encoding = strings.TrimSuffix(name, ext), ext
		}
		if all[name] == nil {
			all[name] = &Asset{contentType: contentTypeOf(name), forms: map[string][]byte{}}
		}
		all[name].forms[encoding] = data
	}
	return all, nil
}

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

// Answer is a file in the smallest form that the client takes, with these headers. It is false where there is no such file.
func (all Assets) Answer(q *Request, name string, header http.Header) (answer Answer, ok bool, err error) {
	a := all[name]
	if a == nil {
		return nil, false, nil
	}
	data, encoding, err := a.accepted(q.HTTP.Header.Values("Accept-Encoding"))
	if err != nil {
		return nil, true, err
	}
	h := http.Header{"Content-Type": {a.contentType}, "X-Content-Type-Options": {"nosniff"}}
	maps.Copy(h, header)
	q.Header().Add("Vary", "Accept-Encoding")
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	return Bytes{Header: h, Data: [][]byte{data}}, true, nil
}

// accepted picks the smallest that the client takes. Nothing is unpacked: a request of a hundred bytes would
// hold megabytes.
func (a *Asset) accepted(acceptEncoding []string) (data []byte, encoding string, err error) {
	br, gz, plain := a.forms[".br"], a.forms[".gz"], a.forms[""]
	switch {
	case br != nil && accepts(acceptEncoding, "br"):
		return br, "br", nil
	case gz != nil && accepts(acceptEncoding, "gzip"):
		return gz, "gzip", nil
	case plain != nil:
		return plain, "", nil
	case gz != nil && (len(acceptEncoding) == 0 || accepts(acceptEncoding, "*")): // Who says nothing takes every coding.
		return gz, "gzip", nil
	}
	return nil, "", errCompressedOnly
}

var errCompressedOnly = &Error{
	Fault:  fault.Invalid("Accept-Encoding", "This file is there in compressed form only; ask for it with Accept-Encoding: gzip"),
	Status: http.StatusNotAcceptable,
}

// accepts reports whether Accept-Encoding (RFC 9110, section 12.5.3) names the coding without refusing it.
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
