// SPDX-License-Identifier: Apache-2.0

// Package requestid names requests, in answers and in logs.
package requestid

import (
	"crypto/rand"
	"net/http"
)

// Header carries the id, in requests and in answers.
const Header = "X-Request-Id"

// MaxLength of an id in bytes.
const MaxLength = 128

// Of is the caller's id of the request where it is fit for headers and logs, else a new one.
func Of(r *http.Request) string {
	if values := r.Header[Header]; len(values) == 1 && fit(values[0]) {
		return values[0]
	}
	return rand.Text()
}

func fit(id string) bool {
	if id == "" || len(id) > MaxLength {
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
