// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
)

// FuzzAPI sends anything to anywhere: nothing breaks, and every error can be read.
func FuzzAPI(f *testing.F) {
	for _, e := range everyEndpoint {
		f.Add(e.method, "/video/api/v1/"+e.path, e.body, rightKey, false)
		f.Add(e.method, "/video/api/v1/"+e.path, e.body, "wrong", true)
	}
	for _, tc := range badInput {
		target := badInputTargets[tc.endpoint]
		f.Add(target.method, "/video/api/v1/"+target.path, tc.body, rightKey, false)
	}
	f.Add(http.MethodDelete, "/video/api/v1/meeting/%2F%00%ff", "", rightKey, false)
	f.Add("OPTIONS", "/video/api/v1/meeting/x", "", "", true)
	one, other := testTenant(v1alpha1.VariantA, limited), testTenant(v1alpha1.VariantB, limited)
	f.Fuzz(func(t *testing.T, method, path, body, key string, variantB bool) {
		u, err := url.ParseRequestURI(path)
		if err != nil || method == "" {
			return // Such requests do not come past net/http.
		}
		w := newWorld(t, one)
		if variantB {
			w = newWorld(t, other)
		}
		r := &http.Request{
			Method: method, URL: u, Host: host, Header: http.Header{"Authorization": {key}}, RemoteAddr: "192.0.2.1:1",
			Body: http.NoBody, ContentLength: int64(len(body)),
		}
		if body != "" {
			r.Body = readCloser{strings.NewReader(body)}
		}
		recorder := httptest.NewRecorder()
		w.handler().ServeHTTP(recorder, r)
		got := response{status: recorder.Code, header: recorder.Header(), body: recorder.Body.String()}
		if got.status >= 500 {
			t.Fatalf("%s %s %q: %d %s", method, path, body, got.status, got.body)
		}
		if got.status >= 400 {
			checkErrorBody(t, got)
		}
		if got.status < 400 && key != rightKey && key != rotatedKey && method != http.MethodOptions && !strings.Contains(path, "docs") {
			// Space around a key is not part of it.
			if _, ok := one.Keys.Match(key); !ok {
				t.Fatalf("%s %s with %q: %d", method, path, key, got.status)
			}
		}
		for _, command := range w.meetings.commands {
			if got.status >= 400 && got.status != 404 {
				t.Fatalf("%s %s %q: %d, and %v", method, path, body, got.status, command)
			}
		}
		if link, ok := strings.CutPrefix(got.body, `{"join":"`); ok {
			checkJoinURL(t, one.Signer, strings.TrimSuffix(link, `"}`))
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func checkErrorBody(t *testing.T, got response) {
	t.Helper()
	var body struct {
		Success *bool
		Error   string
	}
	decoder := json.NewDecoder(strings.NewReader(got.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil || body.Error == "" || got.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %q as %q: %v", got.status, got.body, got.header.Get("Content-Type"), err)
	}
}

// checkJoinURL fails unless the parameters, read as a browser would, say what the ticket says.
func checkJoinURL(t *testing.T, signer *credential.Signer, link string) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(link, baseURL+"/join?") || u.Fragment != "" {
		t.Fatalf("%q: %v", link, err)
	}
	ticket, err := signer.VerifyTicket(u.Query().Get("token"), nil, start)
	if err != nil {
		t.Fatalf("%q: %v", link, err)
	}
	if u.Query().Get("room") != ticket.Room || u.Query().Get("name") != ticket.Name {
		t.Fatalf("%q shows other things than %+v", link, ticket)
	}
}
