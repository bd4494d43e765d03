// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit"
)

func TestFoundAt(t *testing.T) {
	h, other := open(t, testkit.LiveKitOptions{}), testkit.LiveKit(t, testkit.LiveKitOptions{})
	answering := func(status int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", h.URL)
			w.Header().Set("WWW-Authenticate", "Basic") // of interest with 401
			w.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, c := range []struct {
		reason, at, want string
	}{
		{"the server itself", h.URL, ""},
		{"with a slash", h.URL + "/", ""},
		{"a LiveKit with other keys", other.URL, "Unauthorized"},
		{"a path that LiveKit has not", h.URL + "/elsewhere", "Unavailable"},
		{"a web server that knows no such page", answering(http.StatusNotFound), "Unavailable"},
		{"a web server that answers everything", answering(http.StatusOK), "Unavailable"},
		{"something that leads elsewhere", answering(http.StatusFound), "Unavailable"},
		{"a proxy that asks for a login", answering(http.StatusUnauthorized), "Unavailable"},
		{"a proxy that forbids", answering(http.StatusForbidden), "Unavailable"},
		{"a proxy without LiveKit behind it", answering(http.StatusBadGateway), "Unavailable"},
		{"nobody", gone.URL, "Unavailable"},
	} {
		err := h.FoundAt(wait(t), strings.Replace(c.at, "http", "ws", 1))
		got := ""
		if err != nil {
			got = fault.As(err).Reason
			if strings.Contains(err.Error(), "access_token") {
				t.Errorf("%s: the error shows the token: %v", c.reason, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: the reason is %q (%v), want %q", c.reason, got, err, c.want)
		}
	}
}
