// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// secrets are what must be read nowhere, by what they are.
type secrets map[string]string

func (s secrets) keep(what, value string) string {
	s[what] = value
	return value
}

// keepEntry keeps what a participant was let in with.
func (s secrets) keepEntry(what string, e entry) entry {
	s.keep("the session of "+what, e.Session)
	s.keep("the access token of "+what, e.Engine.Token)
	return e
}

// foundIn names the secrets that a text holds, plain or in the encodings that they travel in.
func (s secrets) foundIn(text string) (found []string) {
	for what, value := range s {
		for _, form := range []string{
			value, url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
			hex.EncodeToString([]byte(value)), fmt.Sprintf("%q", value),
		} {
			if strings.Contains(text, form) {
				found = append(found, what)
				break
			}
		}
		// The beginning of a JWT is the same for all; its signature is its own.
		if i := strings.LastIndexByte(value, '.'); strings.HasPrefix(value, "ey") && strings.Contains(text, value[i+1:]) {
			found = append(found, what+" (its signature)")
		}
	}
	return found
}

// TestAFullRunLeavesNoSecretBehind: with the most detailed log, everything that people and backends do, right and wrong,
// with every part failing in between, leaves none of the secrets used in the log, in Events, objects or metrics.
func TestAFullRunLeavesNoSecretBehind(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	all := secrets{}
	cluster := testkit.ControlPlane(t)
	userPassword := all.keep("a user's password", "password-of-ada-4711")
	line := htpasswd(t, "ada", userPassword)
	all.keep("the hash of a user's password", strings.TrimSpace(strings.SplitN(line, ":", 2)[1]))
	broken := all.keep("a line of the users that cannot be read", "eve:plain-text-password-0815")
	create := func(name string, data map[string]string) {
		cluster.Secret(t, v1alpha1.UsedByConferenceConfig, name, data)
	}
	create("users", map[string]string{"htpasswd": line + broken + "\n"})
	create("weak", map[string]string{"key": all.keep("a weak key", "weak-key-1")})
	w := newWorldWith(t, cluster, testkit.ManagerOptions{Args: []string{"--verbose"}}, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.API.KeySecretRefs = append(a.Spec.API.KeySecretRefs, v1alpha1.SecretKeyReference{Name: "weak", Key: "key"})
		a.Spec.Access = &v1alpha1.AccessSpec{UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}, Presenters: []string{"ada"}}
	})
	all.keep("the key of A", w.a.key)
	all.keep("the key of B", w.b.key)
	all.keep("LiveKit's secret", w.livekit.Secret)

	run := func() { fullRun(t, w, all, userPassword) }
	run()
	w.livekit.Kill()
	failing(w, all, userPassword)
	w.livekit.Start(t)
	w.Kubectl(t, "patch", "secret", "env-b", "--type=merge", "-p", `{"stringData":{"API_DISABLED":"`+all.keep("what cannot be read in .env", "half-a-secret-0816")+`"}}`)
	w.Kubectl(t, "delete", "secret", "livekit")
	w.eventually(t, func() error {
		if err := w.configReady("default"); err != nil && strings.Contains(err.Error(), "livekit") {
			return nil
		}
		return fmt.Errorf("the missing Secret is not reported")
	})
	failing(w, all, userPassword)
	w.Secret(t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": w.livekit.Key, "apiSecret": all.keep("a wrong secret of LiveKit", "wrong-secret-of-livekit-0123456789abcdef")})
	failing(w, all, userPassword)

	w.keepStored(t, all)
	response, err := http.Get(w.manager.MetricsURL)
	if err != nil {
		t.Fatal(err)
	}
	metrics, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	log := w.manager.Log()
	for _, part := range []string{`"action":"join"`, `"action":"enter"`, `"action":"remove"`, `"action":"connect"`, "Webhook refused", `"level":"debug"`} {
		if !strings.Contains(log, part) {
			t.Errorf("the log of the run has no %s: it proves nothing", part)
		}
	}
	for where, text := range map[string]string{
		"the manager's log": log, "the metrics": string(metrics), "the objects": w.Kubectl(t, "get", "meetings,confcfg,events", "-o", "yaml"),
	} {
		if found := all.foundIn(text); len(found) > 0 {
			t.Errorf("%s has %q", where, found)
		}
	}
	if t.Failed() {
		return
	}
	t.Logf("%d secrets are in none of %d bytes of log", len(all), len(log))
}

// fullRun does what is done in a day.
func fullRun(t *testing.T, w *world, all secrets, userPassword string) {
	t.Helper()
	roomPassword := all.keep("a room's password", "open-sesame-of-the-board")
	token := all.keep("a token", w.a.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{
		"username": "ada", "password": userPassword, "presenter": true,
	}).text("token"))
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "board", "roomPassword": roomPassword, "duration": "01:00:00"})
	ticket := all.keep("a ticket", w.a.ticket(map[string]any{"room": "board", "name": "Ada", "roomPassword": roomPassword, "token": token}))
	ada := all.keepEntry("Ada", w.a.mustEnter(map[string]any{"ticket": ticket}))
	ada.connect(t)
	bob := all.keepEntry("Bob", w.a.mustEnter(map[string]any{"room": "board", "name": "Bob", "password": roomPassword}))
	bob.connect(t)
	all.keepEntry("Ada by login", w.a.mustEnter(map[string]any{
		"room": "board", "name": "Ada", "password": roomPassword, "username": "ada", "userPassword": userPassword,
	}))
	w.b.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "board of B", "name": "Ada"})
	words := all.keep("what a participant said", "words-between-two-people")
	if r := w.a.as(bob.Session, "POST", "/session/chat", map[string]any{"text": words}); r.status != http.StatusNoContent {
		t.Fatalf("chat: %d %s", r.status, r.raw)
	}
	for _, action := range []string{"mute", "lowerHand", "remove"} {
		if r := w.a.as(ada.Session, "POST", "/session/act", map[string]any{"action": action, "identity": bob.You.Identity}); r.status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", action, r.status, r.raw)
		}
	}
	failing(w, all, userPassword)
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/board", nil)
	w.eventually(t, func() error {
		if state := w.a.as(ada.Session, "GET", "/session", nil); state.text("state") != "ended" {
			return fmt.Errorf("the session says %s", state.raw)
		}
		return nil
	})
	failing(w, all, userPassword)
}

// failing does what does not succeed, whatever it answers.
func failing(w *world, all secrets, userPassword string) {
	wrong := all.keep("a wrong password", "mistyped-password-0817")
	wrongKey := all.keep("a wrong key", "mistyped-key-0818-of-a-backend")
	forged := all.keep("a forged token", strings.TrimSuffix(all["a token"], "x")[:len(all["a token"])-4]+"AAAA")
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/v1/stats", nil}, {"POST", "/api/v1/meeting", `{"room":` + wrong}, {"POST", "/api/v1/join", map[string]any{"room": "board", "name": "n", "roomPassword": wrong}},
		{"POST", "/api/v1/token", map[string]any{"username": "ada", "password": wrong}}, {"POST", "/api/v1/token", map[string]any{"username": "ada", "password": userPassword}},
		{"POST", "/api/v1/join", map[string]any{"room": "board", "name": "n", "token": forged}},
		{"POST", "/api/v1/join", map[string]any{"room": "board", "name": "n", "token": map[string]any{"username": "ada", "password": wrong, "expire": wrong}}},
		{"GET", "/join/board?token=" + forged, nil}, {"GET", "/media-server/rtc/validate?access_token=" + forged, nil},
		{"GET", "/media-server/rtc/validate?access_token=" + all["the access token of Bob"], nil}, {"GET", "/nowhere/at/all?token=" + forged, nil},
		{"POST", "/media-server/webhook", `{"event":"room_started"}`},
	} {
		for _, a := range []account{w.a, w.b, w.a.with(wrongKey), w.a.with("Bearer " + forged)} {
			a.call(call.method, call.path, call.body)
		}
	}
	for _, body := range []map[string]any{
		{"room": "board", "name": "n", "password": wrong}, {"room": "board", "name": "n", "username": "ada", "userPassword": wrong}, {"ticket": forged},
		{"room": "board", "name": "n", "token": forged}, {"ticket": all["a ticket"], "session": all["the session of Bob"]}, {"ticket": all["a ticket"]},
	} {
		w.a.session(body)
		w.b.session(body)
	}
	for _, session := range []string{all["the session of Bob"], forged} {
		w.a.as(session, "POST", "/session/chat", map[string]any{"text": all["what a participant said"]})
		w.a.as(session, "GET", "/session", nil)
	}
	getsIn(w.a.t, w.a.baseURL+"/media-server", forged)
	getsIn(w.a.t, w.a.baseURL+"/media-server", all["the access token of Bob"])
}

// keepStored keeps what the cluster's Secrets hold: signing keys and hashes of passwords.
func (w *world) keepStored(t *testing.T, all secrets) {
	t.Helper()
	var stored corev1.SecretList
	if err := w.Client.List(t.Context(), &stored, client.InNamespace(w.Namespace)); err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for _, s := range stored.Items {
		if s.Name == "livekit" || s.Name == "env-b" {
			continue
		}
		for key, value := range s.Data {
			if kinds++; len(value) > 7 {
				all.keep("Secret "+s.Name+", "+key, string(value))
			}
		}
	}
	if kinds < 5 {
		t.Errorf("only %d values in Secrets", kinds)
	}
}

// htpasswd is a line as `htpasswd -B` writes it.
func htpasswd(t testing.TB, username, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return username + ":" + strings.Replace(string(hash), "$2a$", "$2y$", 1) + "\n"
}
