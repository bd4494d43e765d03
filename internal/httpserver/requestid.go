// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// requestIDHeader carries the id of a request, in requests and in answers.
const requestIDHeader = "X-Request-Id"

// maxRequestID is the greatest length of an id, in bytes.
const maxRequestID = 128

// requestID is the caller's id of the request where it is fit for headers and logs, else a new one.
func requestID(r *http.Request) string {
	if values := r.Header[requestIDHeader]; len(values) == 1 && fit(values[0]) {
		return values[0]
	}
	return rand.Text()
}

const idCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+=@"

func fit(id string) bool {
	return id != "" && len(id) <= maxRequestID && strings.Trim(id, idCharacters) == ""
}
