// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestAttackThePasswordChecks: one team has the costliest hashes that are taken, of users and of a room, and all its passwords are guessed at,
// from many addresses and by its backend. Memory stays as it was, and the users of another team log in in between.
func TestAttackThePasswordChecks(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	costly, err := bcrypt.GenerateFromPassword([]byte("correct-horse"), 12)
	if err != nil {
		t.Fatal(err)
	}
	one, two := newTeams(t, chartsMemory.Env...)
	login := map[string]any{"username": "ada", "password": "correct-horse"}
	for _, tm := range []*team{one, two} {
		tm.Secret(t, v1alpha1.UsedByConferenceConfig, "users", map[string]string{"htpasswd": "ada:" + string(costly) + "\n"})
		tm.Kubectl(t, "patch", "conferenceconfig", tm.tenant(), "--type=merge", "--patch",
			`{"spec":{"access":{"usersSecretRef":{"name":"users","key":"htpasswd"}},"api":{"rateLimit":null}}}`)
		tm.eventually(t, func() error {
			if r := tm.a.call("POST", "/api/v1/token", login); r.status != http.StatusOK {
				return fmt.Errorf("a login answered %d: %s", r.status, r.body)
			}
			return nil
		})
	}
	w := one
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "private", "roomPassword": "sesame"})
	secret := w.meetingsOf(t, "private")[0].Spec.PasswordSecretRef
	w.Kubectl(t, "patch", "secret", secret.Name, "--patch", fmt.Sprintf(
		`{"stringData":{%q:"$argon2id$v=19$m=65536,t=3,p=1$YWFhYWFhYWFhYWFhYWFhYQ$YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE"}}`, secret.Key))

	ctx, cancel := context.WithCancel(t.Context())
	var guesses sync.WaitGroup
	var answered atomic.Int64
	guess := func(from net.Addr, method, path, key, body string) {
		guesses.Go(func() {
			client := clientFrom(from)
			for n := 0; ctx.Err() == nil; n++ {
				request, err := http.NewRequestWithContext(ctx, method, w.a.baseURL+path, strings.NewReader(strings.ReplaceAll(body, "NUMBER", fmt.Sprint(n))))
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Authorization", key)
				if response, err := client.Do(request); err == nil {
					_ = response.Body.Close()
					answered.Add(1)
				}
			}
		})
	}
	for i := range 30 {
		at := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i+1))}
		guess(at, "POST", "/session", "", `{"room":"private","name":"Eve","password":"NUMBER"}`)
		guess(at, "POST", "/session", "", `{"room":"open","name":"Eve","username":"eve-NUMBER","userPassword":"x"}`)
		guess(nil, "POST", "/api/v1/token", w.a.key, `{"username":"ada","password":"correct-horse"}`)
	}
	before, most := heldMemory(t, w.manager.PID()), 0.0
	w.eventually(t, func() error {
		if n := answered.Load(); n < 30 {
			return fmt.Errorf("%d answers", n)
		}
		return nil
	})
	for range 5 {
		began, had := time.Now(), answered.Load()
		two.a.want(http.StatusOK, "POST", "/api/v1/token", login)
		between := answered.Load() - had
		most = max(most, heldMemory(t, w.manager.PID()))
		t.Logf("a login at another team: %s, with %d answers of the first one in between", time.Since(began), between)
	}
	t.Logf("%d answers; %.0f MB at most, %.0f before", answered.Load(), most, before)
	if most-before > 200 {
		t.Errorf("%.0f MB at most, %.0f before", most, before)
	}
	cancel()
	guesses.Wait()
}
