// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Nothing but webhooks gets through where there is no TLS.
func TestWebhooksAlone(t *testing.T) {
	all := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	for path, want := range map[string]int{
		"/media-server/webhook": http.StatusAccepted, "/engine/webhook": http.StatusAccepted, "/media-server/webhook/": http.StatusNotFound, "/": http.StatusNotFound,
		"/api/v1/stats": http.StatusNotFound, "/media-server/rtc": http.StatusNotFound, "/join/room": http.StatusNotFound,
	} {
		w := httptest.NewRecorder()
		webhooksAlone(all).ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		if w.Code != want {
			t.Errorf("%s is answered with %d, want %d", path, w.Code, want)
		}
	}
}
