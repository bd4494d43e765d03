// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/livekit"
)

func fuzzed(f *testing.F) engine.Engine {
	f.Helper()
	e, err := livekit.New("media", nowhere)
	if err != nil {
		f.Fatal(err)
	}
	return e
}

// FuzzHint has two readers to break: of what nobody signed, which must be denied, and of what LiveKit did.
func FuzzHint(f *testing.F) {
	e := fuzzed(f)
	genuine := signed(f, `{"event":"room_started","room":{"name":"m-1"}}`)
	f.Add(genuine.authorization, genuine.body)
	f.Add("", []byte(`{"room":{"name":"m-1","sid":"RM_1","emptyTimeout":300}}`))
	f.Add("..", []byte("{\"room\":"))
	f.Fuzz(func(t *testing.T, authorization string, body []byte) {
		room, err := e.Hint(authorization, body)
		// Each process of the fuzzer signs the genuine one again, but over the same body.
		if string(body) != string(genuine.body) && !fault.Is(err, fault.KindDenied) {
			t.Errorf("an unsigned webhook gives room %q and error %v", room, err)
		}
		d := signed(t, string(body))
		if room, err := e.Hint(d.authorization, d.body); (room == "") != fault.Is(err, fault.KindInvalid) {
			t.Errorf("room %q comes with error %v", room, err)
		}
	})
}

func FuzzInspect(f *testing.F) {
	e := fuzzed(f)
	// It must be the same in every process that the fuzzer starts, so nothing in it is random or of now.
	own, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": nowhere.Key, "sub": "i", "exp": 4102444800, "video": map[string]any{"roomJoin": true, "room": "m-1"},
	}).SignedString([]byte(nowhere.Secret))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add("")
	f.Add("..")
	f.Add(strings.Replace(own, ".", "..", 1))
	f.Fuzz(func(t *testing.T, token string) {
		got, err := e.Inspect(token)
		if token == own {
			if err != nil {
				t.Error(err)
			}
			return
		}
		if err == nil && (got.Room != "m-1" || got.Identity != "i") { // A signature's last letter can be written in four ways.
			t.Errorf("a forged token lets %q into %q", got.Identity, got.Room)
		} else if len(token) > 20 && strings.Contains(err.Error(), token) {
			t.Errorf("the error repeats the token: %v", err)
		}
	})
}
