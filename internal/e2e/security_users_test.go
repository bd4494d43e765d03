// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestARemovedUserIsOut: on a protected host, a user who is taken out of the Secret, or gets another password there,
// enters nowhere any more on any replica, whatever they were given before. Others notice nothing.
func TestARemovedUserIsOut(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.ControlPlane(t)
	eves := htpasswd(t, "eve", "eve's")
	secret := testkit.SecretFor(v1alpha1.UsedByConferenceConfig, cluster.Namespace, "users",
		map[string]string{"htpasswd": htpasswd(t, "ada", "ada's") + htpasswd(t, "bob", "bob's") + eves})
	cluster.Create(t, secret)
	w := newWorldOn(t, cluster, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Access = &v1alpha1.AccessSpec{Protected: new(true), UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}}
	})
	replicas := w.each()
	type credentials struct{ token, ticket, session string }
	given := map[string]credentials{}
	w.a.want(http.StatusForbidden, "POST", "/api/v1/token", map[string]any{"username": "nobody", "password": "ada's"})
	w.a.want(http.StatusForbidden, "POST", "/api/v1/token", map[string]any{"username": "ada", "password": "bob's"})
	for _, user := range []string{"ada", "bob", "eve"} {
		var c credentials
		c.token = w.a.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{"username": user, "password": user + "'s"}).text("token")
		c.ticket = w.a.ticket(map[string]any{"room": "board", "name": user, "token": c.token})
		c.session = w.a.mustEnter(map[string]any{"room": "board", "name": user, "username": user, "userPassword": user + "'s"}).Session
		given[user] = c
	}

	secret.StringData = map[string]string{"htpasswd": htpasswd(t, "bob", "another") + eves}
	if err := cluster.Client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	for i, r := range replicas {
		for _, user := range []string{"ada", "bob"} {
			c, why := given[user], fmt.Sprintf("%s at replica %d", user, i)
			w.eventually(t, func() error {
				if status, _ := r.session(map[string]any{"ticket": c.ticket}); status == http.StatusOK {
					return fmt.Errorf("%s enters by the old ticket", why)
				}
				return nil
			})
			r.refused(why+", ticket", map[string]any{"ticket": c.ticket}, "LinkExpired")
			r.refused(why+", ticket and session", map[string]any{"ticket": c.ticket, "session": c.session}, "LinkExpired")
			r.refused(why+", session", map[string]any{"room": "board", "name": user, "session": c.session}, "LoginRequired")
			r.refused(why+", token", map[string]any{"room": "board", "name": user, "token": c.token}, "WrongLogin")
			r.refused(why+", login", map[string]any{"room": "board", "name": user, "username": user, "userPassword": user + "'s"}, "WrongLogin")
			r.want(http.StatusForbidden, "POST", "/api/v1/join", map[string]any{"room": "board", "name": user, "token": c.token})
			r.want(http.StatusForbidden, "POST", "/api/v1/token", map[string]any{"username": user, "password": user + "'s"})
			if said := r.as(c.session, "POST", "/session/chat", `{"text":"still here"}`); said.status != http.StatusForbidden {
				t.Errorf("%s, chat: %d %s", why, said.status, said.raw)
			}
		}
		eve := given["eve"]
		r.mustEnter(map[string]any{"ticket": eve.ticket})
		r.mustEnter(map[string]any{"room": "board", "name": "eve", "token": eve.token})
		r.mustEnter(map[string]any{"room": "board", "name": "bob", "username": "bob", "userPassword": "another"})
	}
}
