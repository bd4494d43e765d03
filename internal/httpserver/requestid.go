// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"crypto/rand"
	"net/http"
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

func fit(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		switch b := id[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		case b == '-', b == '_', b == '.', b == ':', b == '/', b == '+', b == '=', b == '@':
		default:
			return false
		}
	}
	return true
}
