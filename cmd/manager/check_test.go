// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestAsk: answers of the API will do, whatever they say; those of others, and failures, will not.
func TestAsk(t *testing.T) {
	for _, tc := range []struct {
		reason, id string
		status     int
		complains  string
	}{
		{"no key", "1", http.StatusUnauthorized, ""},
		{"no tenant of this host", "1", http.StatusNotFound, ""},
		{"the API is unavailable", "1", http.StatusServiceUnavailable, "503"},
		{"another server", "", http.StatusOK, "something else"},
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/v1/stats" {
				t.Errorf("%s: it asks for %s", tc.reason, r.URL.Path)
			}
			if tc.id != "" {
				w.Header().Set("X-Request-Id", tc.id)
			}
			w.WriteHeader(tc.status)
		}))
		err := ask(t.Context(), server.Client(), server.URL+"/api/v1/stats")
		if (err == nil) != (tc.complains == "") || (err != nil && !strings.Contains(err.Error(), tc.complains)) {
			t.Errorf("%s: %v", tc.reason, err)
		}
		if tc.complains == "" {
			// The certificate is for another name, which does not matter.
			if err := check(t.Context(), server.URL+"/"); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		}
		server.Close()
	}
}

// TestCheckGivesUp when its time is over, and says what was wrong last.
func TestCheckGivesUp(t *testing.T) {
	refused := httptest.NewServer(nil)
	refused.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	err := run(ctx, []string{"--check=" + refused.URL}, func(string) string { return "" }, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "look at its pods") {
		t.Errorf("no server: %v", err)
	}
}
