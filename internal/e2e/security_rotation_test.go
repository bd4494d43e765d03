// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/testkit"
)

// recipe runs what docs/security.md tells operators to do.
func (w *world) recipe(t *testing.T, name string, env ...string) {
	t.Helper()
	w.Recipe(t, name, testkit.RecipeOptions{Env: append(env, "NAMESPACE="+w.Namespace, "CONFIG=default")})
}

// keyID is the id of the key that signed a token.
func keyID(t *testing.T, token string) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	if err != nil {
		t.Fatal(err)
	}
	var header struct{ Kid string }
	if err := json.Unmarshal(raw, &header); err != nil {
		t.Fatal(err)
	}
	return header.Kid
}

// TestRotationUnderLoadRefusesNobody: API keys and signing keys are rotated as the documentation says while backends
// call two replicas; no call with a good key, and no token of either replica, is refused; then the old key is.
func TestRotationUnderLoadRefusesNobody(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	replicas := w.each()
	var key atomic.Pointer[string]
	key.Store(&w.a.key)
	var calls, refused atomic.Int64
	stop := make(chan struct{})
	var backends sync.WaitGroup
	for i := range 4 {
		backends.Go(func() {
			mine, others := replicas[i%2], replicas[(i+1)%2]
			for {
				select {
				case <-stop:
					return
				default:
				}
				using := *key.Load()
				made := mine.with(using).call("POST", "/api/v1/token", map[string]any{"username": "ada", "password": "x"})
				used := others.with(using).call("POST", "/api/v1/join", map[string]any{"room": "busy", "name": "n", "token": made.text("token")})
				calls.Add(2)
				if made.status != http.StatusOK || used.status != http.StatusOK {
					refused.Add(1)
					t.Errorf("a token: %d %s; with it: %d %s", made.status, made.text("error"), used.status, used.text("error"))
					return
				}
			}
		})
	}
	before := replicas[0].want(http.StatusOK, "POST", "/api/v1/token", map[string]any{"username": "ada", "password": "x"}).text("token")

	w.eventually(t, w.nextSigningKeyIsLater(t))
	w.recipe(t, "add-signing-key")
	w.recipe(t, "add-api-key")
	var secret corev1.Secret
	if err := w.Client.Get(t.Context(), w.key("api-key-next"), &secret); err != nil {
		t.Fatal(err)
	}
	next, old := string(secret.Data["key"]), w.a.key
	everywhere := func(key string, status int) time.Duration {
		began := time.Now()
		for _, r := range replicas {
			w.eventually(t, func() error {
				if got := r.with(key).call("GET", "/api/v1/stats", nil).status; got != status {
					return fmt.Errorf("answered %d, want %d", got, status)
				}
				return nil
			})
		}
		return time.Since(began)
	}
	added := everywhere(next, http.StatusOK)
	everywhere(old, http.StatusOK)
	key.Store(&next)
	// A call that began with the old key must be over before that key goes.
	for from := calls.Load(); calls.Load() < from+20 && refused.Load() == 0; {
		everywhere(next, http.StatusOK)
	}
	w.recipe(t, "remove-api-key")
	removed := everywhere(old, http.StatusForbidden)
	everywhere(next, http.StatusOK)
	close(stop)
	backends.Wait()

	w.signingKeysOverlap(t, replicas, next, before)
	t.Logf("%d calls, %d refused; the new key worked on both replicas after %s, the old one stopped after %s", calls.Load(), refused.Load(), added, removed)
}

// nextSigningKeyIsLater waits for the next second. Of two keys that are younger than a minute the one with the earlier name signs, and
// must be the one that every replica knows.
func (w *world) nextSigningKeyIsLater(t *testing.T) func() error {
	return func() error {
		var keys corev1.Secret
		if err := w.Client.Get(t.Context(), w.key("default-signing-keys"), &keys); err != nil {
			return err
		}
		next := time.Now().UTC().Format("20060102t150405z") // as in the recipe
		for first := range keys.Data {
			if next <= first {
				return fmt.Errorf("the next key would be %q, and there is %q", next, first)
			}
		}
		return nil
	}
}

// signingKeysOverlap: every key that is there verifies on every replica, the latest that has begun signs, and what a
// removed one has signed is worth nothing.
func (w *world) signingKeysOverlap(t *testing.T, replicas []account, apiKey, before string) {
	t.Helper()
	join := func(r account, token string) int {
		return r.with(apiKey).call("POST", "/api/v1/join", map[string]any{"room": "busy", "name": "n", "token": token}).status
	}
	signed := func(r account) string {
		return r.with(apiKey).want(http.StatusOK, "POST", "/api/v1/token", map[string]any{"username": "ada", "password": "x"}).text("token")
	}
	var keys corev1.Secret
	if err := w.Client.Get(t.Context(), w.key("default-signing-keys"), &keys); err != nil || len(keys.Data) != 3 {
		t.Fatalf("%d signing keys, one of pseudonyms among them (%v)", len(keys.Data), err)
	}
	for _, r := range replicas {
		if status := join(r, before); status != http.StatusOK {
			t.Errorf("a token from before the rotation: %d", status)
		}
	}
	// Of those that are there none is a minute old. This one is, so that it signs as soon as a replica knows it.
	latest, value := credential.NewSigningKey(time.Now().Add(-2 * time.Minute))
	keys.Data[latest] = value
	if err := w.Client.Update(t.Context(), &keys); err != nil {
		t.Fatal(err)
	}
	for _, r := range replicas {
		w.eventually(t, func() error {
			if id := keyID(t, signed(r)); id != latest {
				return fmt.Errorf("signed with %q, want %q", id, latest)
			}
			return nil
		})
	}
	after := signed(replicas[0])
	for i, r := range replicas {
		if old, young := join(r, before), join(r, after); old != http.StatusOK || young != http.StatusOK {
			t.Errorf("replica %d, with both keys: the old one's token %d, the new one's %d", i, old, young)
		}
	}
	w.recipe(t, "remove-signing-key", "OLD_KEY="+keyID(t, before))
	for i, r := range replicas {
		w.eventually(t, func() error {
			if status := join(r, before); status != http.StatusForbidden {
				return fmt.Errorf("replica %d, without the old key: its token %d", i, status)
			}
			return nil
		})
		if status := join(r, after); status != http.StatusOK {
			t.Errorf("replica %d, without the old key: the new one's token %d", i, status)
		}
	}
}
