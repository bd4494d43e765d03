// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/livekit/protocol/auth"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

func TestInspect(t *testing.T) {
	e := dial(t, nowhere)
	grant := engine.Grant{Room: "m-1", Identity: "i", Name: "Ann", Lifetime: time.Minute}
	own, err := e.Grant(grant)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Inspect(own); err != nil || got != (engine.Bearer{Room: "m-1", Identity: "i"}) {
		t.Fatalf("%+v, error %v, want m-1, i and none", got, err)
	}

	granted := func(server engine.Server) string {
		token, err := dial(t, server).Grant(grant)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	sign := func(change func(*auth.AccessToken)) string {
		token := auth.NewAccessToken(nowhere.Key, nowhere.Secret).SetIdentity("i").
			SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: "m-1"})
		change(token)
		signed, err := token.ToJWT()
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	parts := strings.Split(own, ".")
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	cases := map[string]string{
		"nothing":                "",
		"no token":               "hello",
		"another secret":         granted(engine.Server{URL: nowhere.URL, Key: nowhere.Key, Secret: "another"}),
		"another key":            granted(engine.Server{URL: nowhere.URL, Key: "another", Secret: nowhere.Secret}),
		"no algorithm":           encode(`{"alg":"none","typ":"JWT"}`) + "." + parts[1] + ".",
		"another algorithm":      encode(`{"alg":"HS512","typ":"JWT"}`) + "." + parts[1] + "." + parts[2],
		"changed claims":         parts[0] + "." + encode(`{"iss":"key","sub":"i","exp":4102444800,"video":{"roomJoin":true,"room":"m-2"}}`) + "." + parts[2],
		"no signature":           parts[0] + "." + parts[1] + ".",
		"long past its end":      withEnd(t, jwt.NewNumericDate(time.Now().Add(-2*time.Minute))),
		"without an end":         withEnd(t, nil),
		"for no room":            sign(func(t *auth.AccessToken) { t.SetVideoGrant(&auth.VideoGrant{RoomJoin: true}) }),
		"for nobody":             sign(func(t *auth.AccessToken) { t.SetIdentity("") }),
		"for administration":     sign(func(t *auth.AccessToken) { t.SetVideoGrant(&auth.VideoGrant{RoomAdmin: true, Room: "m-1"}) }),
		"for something else yet": sign(func(t *auth.AccessToken) { t.SetVideoGrant(nil) }),
	}
	for name, token := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := e.Inspect(token)
			wantKind(t, err, fault.KindDenied)
			if got != (engine.Bearer{}) {
				t.Errorf("%+v is told", got)
			}
			_, err = e.Limit(token, engine.Rights{})
			wantKind(t, err, fault.KindDenied)
		})
	}
}

// withEnd returns a token that is right but for its end.
func withEnd(t *testing.T, end *jwt.NumericDate) string {
	t.Helper()
	claims := jwt.MapClaims{"iss": nowhere.Key, "sub": "i", "video": map[string]any{"roomJoin": true, "room": "m-1"}}
	if end != nil {
		claims["exp"] = end
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(nowhere.Secret))
	if err != nil {
		t.Fatal(err)
	}
	return token
}
