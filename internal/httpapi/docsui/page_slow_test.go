// SPDX-License-Identifier: Apache-2.0

//go:build slow

// Package docsui_test uses the documentation page as people do: in a browser.
package docsui_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/httpapi"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
)

const apiKey = "a-key-of-32-random-characters-aa"

// service answers every host, with 7 rooms, and nothing else.
type service struct {
	httpapi.Meetings
	tenant tenant.Tenant
}

func (s *service) ForHost(string) (*tenant.Tenant, bool) { return &s.tenant, false }

func (*service) Totals(*tenant.Tenant) meeting.Totals {
	return meeting.Totals{Rooms: 7, Users: 11}
}

// serve starts the API of a variant under a path prefix.
func serve(t *testing.T, variant v1alpha1.Variant, allowed map[string]bool, disabled []string) string {
	t.Helper()
	s := &service{}
	handler := httpserver.NewRouter(httpserver.RouterOptions{Tenants: s, Log: logr.Discard()}, httpapi.New(httpapi.Options{Meetings: s}))
	server := httptest.NewUnstartedServer(handler)
	keys, _ := credential.NewKeyRing([]string{apiKey})
	base := "http://" + server.Listener.Addr().String() + "/video"
	s.tenant = tenant.Tenant{Variant: variant, BaseURL: base, BasePath: "/video", Keys: keys}.Switch(allowed, disabled)
	server.Start()
	t.Cleanup(server.Close)
	return base
}

func TestPageCallsTheAPI(t *testing.T) {
	base := serve(t, v1alpha1.VariantA, map[string]bool{"token": false}, nil)
	page := testkit.Browser(t).Open(t, base+"/api/v1/docs")

	page.WaitForText(t, "Conferencing Service REST API")
	page.WaitFor(t, `document.querySelectorAll(".opblock").length === 15`)
	page.WaitForText(t, "Switched off here: control, token.")

	// Without a key the call is refused, and the page shows it.
	page.Click(t, "#operations-Usage-getStats .opblock-summary-control")
	page.Click(t, "#operations-Usage-getStats .execute")
	page.WaitForText(t, "Unauthorized: send the API key")

	page.Click(t, ".auth-wrapper .authorize")
	page.Type(t, ".auth-container input", apiKey)
	page.Click(t, ".auth-btn-wrapper .authorize")
	page.Click(t, ".auth-btn-wrapper .btn-done")
	page.Click(t, "#operations-Usage-getStats .execute")
	page.WaitForText(t, `"totalRooms": 7`)

	// A body can be written for DELETE too.
	page.Click(t, "#operations-Meetings-endMeeting .opblock-summary-control")
	page.WaitFor(t, `document.querySelector("#operations-Meetings-endMeeting textarea").value.includes("redirect")`)

	for _, url := range page.Requests() {
		if !strings.HasPrefix(url, base+"/api/v1/") && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asked for %s", url)
		}
	}
	for _, message := range page.ConsoleErrors() {
		// The refused call is one, and meant.
		if !strings.Contains(message, http.StatusText(http.StatusForbidden)) {
			t.Errorf("on the console: %s", message)
		}
	}
	page.Screenshot(t, "docs")
}

func TestPageOfVariantB(t *testing.T) {
	base := serve(t, v1alpha1.VariantB, nil, []string{"meetings"})
	page := testkit.Browser(t).Open(t, base+"/api/v1/docs")
	page.WaitFor(t, `document.querySelectorAll(".opblock").length === 14`)
	page.WaitForText(t, "Switched off here: control, meetings.")
	if testkit.Eval[bool](t, page, `document.querySelector("#operations-Meetings-endMeeting") !== null`) {
		t.Error("variant B ends no meetings")
	}
}
