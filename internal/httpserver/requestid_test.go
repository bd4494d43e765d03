// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net/http"
	"strings"
	"testing"
)

func TestRequestID(t *testing.T) {
	for _, tc := range []struct {
		reason string
		sent   []string
		kept   bool
	}{
		{"none", nil, false},
		{"a good one", []string{"0b9c-AZ_9.:/+=@"}, true},
		{"the longest", []string{strings.Repeat("a", maxRequestID)}, true},
		{"an empty one", []string{""}, false},
		{"one with a space", []string{"a b"}, false},
		{"one with a quote", []string{`a"b`}, false},
		{"one with a line break", []string{"a\nb"}, false},
		{"one outside ASCII", []string{"é"}, false},
		{"one that is too long", []string{strings.Repeat("a", maxRequestID+1)}, false},
		{"two", []string{"a", "b"}, false},
	} {
		seen := map[string]bool{}
		for range 2 {
			id := requestID(&http.Request{Header: http.Header{requestIDHeader: tc.sent}})
			if kept := len(tc.sent) == 1 && id == tc.sent[0]; kept != tc.kept || !fit(id) || seen[id] && !tc.kept {
				t.Errorf("%s: %q", tc.reason, id)
			}
			seen[id] = true
		}
	}
}
