// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"net/http"
	"net/url"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestEveryWayIntoAProtectedRoom opens a room of a protected host in a browser in every way that a login or a token can
// be shown, and finds the presenter's menu there; and in the same ways without one, or with a wrong one, stays outside.
func TestEveryWayIntoAProtectedRoom(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	cluster := testkit.ControlPlane(t)
	cluster.Secret(t, v1alpha1.UsedByConferenceConfig, "users", map[string]string{"htpasswd": htpasswd(t, "ada", "correct-horse")})
	w := newWorldWith(t, cluster, testkit.ManagerOptions{}, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Access = &v1alpha1.AccessSpec{
			Protected: new(true), Presenters: []string{"ada"}, UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"},
		}
	})
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "guarded"})
	login := map[string]any{"username": "ada", "password": "correct-horse"}
	token := w.a.want(http.StatusOK, "POST", "/api/v1/token", login).text("token")
	written := w.a.baseURL + "/join?" + url.Values{"room": {"guarded"}, "name": {"Ada"}, "token": {token}}.Encode()
	press := func(p *testkit.Page) {
		p.WaitFor(t, shows("join-button"))
		p.Click(t, by("join-button"))
	}
	form := func(fields map[string]string) func(*testkit.Page) {
		return func(p *testkit.Page) {
			press(p) // Only then does the page know that a login is needed.
			p.WaitFor(t, shows("login-username"))
			for field, text := range fields {
				p.Type(t, by(field), text)
			}
			p.Click(t, by("join-button"))
		}
	}
	plain := w.a.roomURL("guarded") + "?name=Ada"
	for _, way := range []struct {
		reason, link string
		then         func(*testkit.Page)
		// sees is what is on the page at last.
		sees string
	}{
		{"a join with a token", w.a.link(map[string]any{"room": "guarded", "name": "Ada", "token": token}), nil, inRoom},
		{"a join with a login", w.a.link(map[string]any{"room": "guarded", "name": "Ada", "token": login}), nil, inRoom},
		{"a link with a token, written by hand", written, press, inRoom},
		{"the room's link with a token", plain + "&token=" + url.QueryEscape(token), press, inRoom},
		{"a login on the screen", plain, form(map[string]string{"login-username": "ada", "login-password": "correct-horse"}), inRoom},
		{"a token on the screen", plain, form(map[string]string{"login-token": token}), inRoom},
		{"neither", plain, press, shows("login-username")},
		{"a wrong password", plain, form(map[string]string{"login-username": "ada", "login-password": "guess"}), wrongLogin},
		{"a token of another tenant", plain, form(map[string]string{"login-token": w.b.presenterToken("ada")}), wrongLogin},
	} {
		p := testkit.Browser(t).Open(t, way.link)
		if way.then != nil {
			way.then(p)
		}
		p.WaitFor(t, way.sees)
		if way.sees != inRoom {
			if testkit.Eval[bool](t, p, "!!"+inRoom) {
				t.Errorf("%s: they are in", way.reason)
			}
			p.Close()
			continue
		}
		p.WaitFor(t, presents)
		p.Close()
	}
}

const wrongLogin = `document.querySelector('[data-testid=login-username][aria-invalid=true]')`
