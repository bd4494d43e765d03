// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"maps"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Answer is what is written to a client.
type Answer interface{ write(*Request) }

// JSON is an answer of one JSON value. What is not UTF-8 in it becomes U+FFFD.
type JSON struct {
	Status int
	Value  any
}

var typeJSON = []string{"application/json"}

func (a JSON) write(q *Request) {
	data, err := json.Marshal(a.Value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // A value that cannot be written is a mistake in this program.
	}
	h := q.Header()
	h["Content-Type"] = typeJSON
	h["Content-Length"] = []string{strconv.Itoa(len(data))}
	q.WriteHeader(a.Status)
	// An error means that the client has gone.
	_, _ = q.Write(data)
}

// Bytes is an answer that is there already. Status zero means 200.
type Bytes struct {
	Status int
	Header http.Header
	// Data is written one after the other.
	Data [][]byte
}

func (a Bytes) write(q *Request) {
	maps.Copy(q.Header(), a.Header)
	length := 0
	for _, part := range a.Data {
		length += len(part)
	}
	q.Header().Set("Content-Length", strconv.Itoa(length))
	q.WriteHeader(max(a.Status, http.StatusOK))
	for _, part := range a.Data {
		_, _ = q.Write(part)
	}
}

// Stream is an answer that is written piece by piece, with status 200.
type Stream func(http.ResponseWriter)

func (a Stream) write(q *Request) { a(q) }

// NoContent is an answer without a body.
var NoContent Answer = noContent{}

type noContent struct{}

func (noContent) write(q *Request) { q.WriteHeader(http.StatusNoContent) }

// Redirect is an answer that leads to a path behind the tenant's base path, with the query of the request.
type Redirect string

func (a Redirect) write(q *Request) { Location{string(a), q.HTTP.URL.RawQuery}.write(q) }

// Location is an answer that leads to a path behind the tenant's base path, with a query of its own.
type Location struct{ Path, Query string }

func (a Location) write(q *Request) {
	to := EscapedBasePath(q.Tenant) + a.Path
	if a.Query != "" {
		to += "?" + a.Query
	}
	q.Header().Set("Location", to)
	q.WriteHeader(http.StatusFound)
}
