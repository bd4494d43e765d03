// SPDX-License-Identifier: Apache-2.0

//go:build slow

package testkit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestFirefoxIsDriven: a page in Firefox is clicked and typed into as by a person, and has run the test's script before its own.
func TestFirefoxIsDriven(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>Form</title><input id=name><button>Go</button><script>
			window.given = window.before;
			document.querySelector('button').onclick = event => window.pressed = event.isTrusted + ' ' + document.querySelector('input').value;
		</script>`))
	}))
	defer server.Close()
	f := testkit.OpenFirefox(t, "window.before = 'here'", server.URL)
	f.WaitFor(t, `given === 'here'`)
	f.Type(t, "#name", "Ada L")
	f.WaitFor(t, `document.querySelector('input').value === 'Ada L'`)
	f.Click(t, "button")
	f.WaitFor(t, `pressed === 'true Ada L'`)
}
