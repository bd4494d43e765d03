// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat/compattest"
	"convene.dev/convene/internal/testkit"
)

// TestAFileThatWantsLogins: a host whose .env says HOST_USER_AUTH=true lets nobody in without a login, and takes no password for right before its
// users are named. The condition says what to do, and that is what opens it.
func TestAFileThatWantsLogins(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newMigratedWorld(t, func(a, b *v1alpha1.ConferenceConfig) {
		at := a.Spec.BaseURL
		b.Spec.DeepCopyInto(&a.Spec) // The replicas answer to their own addresses as this tenant.
		a.Spec.BaseURL = at
	})
	w.a.key = w.b.key
	a := w.a.on(t)
	const room = "clinic"
	entry := func(more ...string) map[string]any {
		body := map[string]any{"room": room, "name": "Somebody"}
		for i := 0; i < len(more); i += 2 {
			body[more[i]] = more[i+1]
		}
		return body
	}
	own := func(password string) string {
		return compattest.Token(t, integrationsKey, time.Now(), map[string]any{
			"username": "ada", "password": password, "presenter": "false", "expire": "1h",
		}, 0)
	}
	over := func(password string) map[string]any {
		return map[string]any{"room": room, "name": "Ada", "token": map[string]any{"username": "ada", "password": password}}
	}
	a.insist(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	a.mustEnter(entry())

	env := testkit.SecretFor(v1alpha1.UsedByConferenceConfig, w.Namespace, "service-env", map[string]string{
		"API_KEY_SECRET": a.key, "API_DISABLED": "[]", "JWT_KEY": integrationsKey, "HOST_USER_AUTH": "true",
		"HOST_USERS": `[{"username":"ada","password":"ada's"}]`,
	})
	if err := w.Client.Update(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	config := &v1alpha1.ConferenceConfig{}
	config.Namespace, config.Name = w.Namespace, "default"
	w.eventually(t, w.says(config, v1alpha1.ConditionUsersResolved, v1alpha1.ReasonNotConfigured))
	w.eventually(t, w.says(config, v1alpha1.ConditionReady, v1alpha1.ReasonNotConfigured))
	for i, r := range w.each() {
		why := func(what string) string { return fmt.Sprintf("%s at replica %d", what, i) }
		w.eventually(t, func() error {
			if status, _ := r.session(entry()); status == http.StatusOK {
				return fmt.Errorf("%s enters", why("a guest"))
			}
			return nil
		})
		r.refused(why("a guest"), entry(), "LoginRequired")
		r.refused(why("a login"), entry("username", "ada", "userPassword", "ada's"), "WrongLogin")
		r.refused(why("a token of an integration"), entry("token", own("ada's")), "WrongLogin")
		r.want(http.StatusForbidden, "POST", "/api/v1/join", map[string]any{"room": room, "name": "Ada"})
		r.want(http.StatusForbidden, "POST", "/api/v1/join", over("ada's"))
		r.want(http.StatusForbidden, "POST", "/api/v1/token", map[string]any{"username": "ada", "password": "ada's"})
	}

	w.Secret(t, v1alpha1.UsedByConferenceConfig, "users", map[string]string{"htpasswd": htpasswd(t, "ada", "ada's")})
	if err := w.Client.Get(t.Context(), w.key(config.Name), config); err != nil {
		t.Fatal(err)
	}
	config.Spec.Access = &v1alpha1.AccessSpec{UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}}
	if err := w.Client.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, w.says(config, v1alpha1.ConditionUsersResolved, v1alpha1.ReasonResolved))
	for i, r := range w.each() {
		w.eventually(t, func() error {
			if status, e := r.session(entry("username", "ada", "userPassword", "ada's")); status != http.StatusOK {
				return fmt.Errorf("replica %d: %d %s", i, status, e.Reason)
			}
			return nil
		})
		r.mustEnter(entry("token", own("ada's")))
		r.insist(http.StatusOK, "POST", "/api/v1/join", over("ada's"))
		r.refused("a guest", entry(), "LoginRequired")
		r.refused("a token of an integration with another password", entry("token", own("bob's")), "WrongLogin")
		r.want(http.StatusForbidden, "POST", "/api/v1/join", over("bob's"))
	}
}
