// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/engine"
)

// nowhere is a server that nothing here connects to.
var nowhere = engine.Server{URL: "http://127.0.0.1:9", Key: "key", Secret: strings.Repeat("secret ", 5)}

func claimsOf(t *testing.T, token string) map[string]any {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestGrantAllowsJustThis(t *testing.T) {
	sources := []any{"camera", "microphone", "screen_share", "screen_share_audio"}
	cases := map[string]struct {
		traits     engine.Traits
		forbidden  engine.Abilities
		kind       any
		video      map[string]any
		attributes any
	}{
		"an ordinary peer": {
			traits: engine.Traits{Chat: true},
			video: map[string]any{
				"roomJoin": true, "room": "m-1", "canSubscribe": true, "canPublish": true, "canPublishSources": sources,
				"canPublishData": false, "canUpdateOwnMetadata": false,
			},
			attributes: map[string]any{"chat": "true"},
		},
		"a peer without anything": {
			video: map[string]any{
				"roomJoin": true, "room": "m-1", "canSubscribe": true, "canPublish": true, "canPublishSources": sources,
				"canPublishData": false, "canUpdateOwnMetadata": false,
			},
		},
		"a presenter": {
			traits: engine.Traits{Presenter: true, Granted: true, Chat: true, Notify: true, Avatar: "https://example.com/a.png"},
			video: map[string]any{
				"roomJoin": true, "room": "m-1", "canSubscribe": true, "canPublish": true, "canPublishSources": sources,
				"canPublishData": false, "canUpdateOwnMetadata": false,
			},
			attributes: map[string]any{
				"presenter": "true", "chat": "true", "notify": "true", "avatar": "https://example.com/a.png",
			},
		},
		"a peer whom a presenter has muted": {
			traits: engine.Traits{Chat: true, Held: engine.Microphone}, forbidden: engine.Microphone,
			video: map[string]any{
				"roomJoin": true, "room": "m-1", "canSubscribe": true, "canPublish": true,
				"canPublishSources": []any{"camera", "screen_share"},
				"canPublishData":    false, "canUpdateOwnMetadata": false,
			},
			attributes: map[string]any{"chat": "true", "held": "microphone"},
		},
		"a hidden peer, who counts for nothing": {
			traits: engine.Traits{Hidden: true},
			kind:   "agent",
			video: map[string]any{
				"roomJoin": true, "room": "m-1", "hidden": true, "canSubscribe": true, "canPublish": false,
				"canPublishData": false, "canUpdateOwnMetadata": false,
			},
		},
	}
	e := dial(t, nowhere)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			token, err := e.Grant(engine.Grant{Room: "m-1", Identity: "i", Name: "Ann", Traits: c.traits, Forbidden: c.forbidden, Lifetime: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			claims := claimsOf(t, token)
			if life := claims["exp"].(float64) - claims["iat"].(float64); life != 60 {
				t.Errorf("the token lives %v s, want 60", life)
			}
			for _, timely := range []string{"exp", "iat", "nbf"} {
				delete(claims, timely)
			}
			// What is sealed is another text each time.
			attributes, _ := claims["attributes"].(map[string]any)
			if sealed := attributes["client"]; (sealed != nil) != c.traits.Hidden {
				t.Errorf("sealed is %v", sealed)
			}
			if delete(attributes, "client"); len(attributes) == 0 {
				delete(claims, "attributes")
			}
			want := map[string]any{"iss": "key", "sub": "i", "identity": "i", "name": "Ann", "video": c.video}
			if c.kind != nil {
				want["kind"] = c.kind
			}
			if c.attributes != nil {
				want["attributes"] = c.attributes
			}
			if diff := cmp.Diff(want, claims); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGrantRefusesWhatLiveKitWouldWiden(t *testing.T) {
	good := engine.Grant{Room: "m-1", Identity: "i", Lifetime: time.Minute}
	cases := map[string]func(*engine.Grant){
		"no room":                             func(g *engine.Grant) { g.Room = "" },
		"a long room":                         func(g *engine.Grant) { g.Room = engine.RoomName(strings.Repeat("r", 257)) },
		"no identity":                         func(g *engine.Grant) { g.Identity = "" },
		"a long identity":                     func(g *engine.Grant) { g.Identity = engine.Identity(strings.Repeat("i", 257)) },
		"no lifetime":                         func(g *engine.Grant) { g.Lifetime = 0 },
		"a lifetime backwards":                func(g *engine.Grant) { g.Lifetime = -time.Second },
		"as long a lifetime as LiveKit gives": func(g *engine.Grant) { g.Lifetime = 10 * time.Minute },
	}
	e := dial(t, nowhere)
	if _, err := e.Grant(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			g := good
			spoil(&g)
			if token, err := e.Grant(g); err == nil {
				t.Errorf("granted %s", claimsOf(t, token))
			}
		})
	}
}

func TestGrantSealsTheDevice(t *testing.T) {
	e := dial(t, nowhere)
	sealed := func(os, browser string) string {
		token, err := e.Grant(engine.Grant{
			Room: "m-1", Identity: "i", Lifetime: time.Minute, Traits: engine.Traits{OS: os, Browser: browser},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"Windows", "Firefox"} {
			if b, _ := json.Marshal(claimsOf(t, token)); strings.Contains(string(b), secret) {
				t.Errorf("the token says %s", secret)
			}
		}
		return claimsOf(t, token)["attributes"].(map[string]any)["client"].(string)
	}
	one, again, other := sealed("Windows", "Firefox"), sealed("Windows", "Firefox"), sealed("", "Edge")
	if one == again {
		t.Error("the same device is sealed to the same text, by which it is known again")
	}
	if len(one) != len(other) {
		t.Errorf("devices are told apart by length: %d and %d", len(one), len(other))
	}
}
