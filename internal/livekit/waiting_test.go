// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
)

// TestAGrantOfAWaitingRoomGivesNothing, nor does the token that the gateway makes of it when a browser connects.
func TestAGrantOfAWaitingRoomGivesNothing(t *testing.T) {
	e, err := livekit.New("media", nowhere)
	if err != nil {
		t.Fatal(err)
	}
	token, err := e.Grant(engine.Grant{
		Room: "m-1_waiting", Identity: "ann-1", Name: "Ann", Waiting: true, Lifetime: time.Minute,
		Traits: engine.Traits{Username: "anna", Since: time.Now(), Message: "It is me"},
	})
	if err != nil {
		t.Fatal(err)
	}
	limited, err := e.Limit(token, engine.Rights{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"roomJoin": true, "room": "m-1_waiting", "hidden": true, "canSubscribe": false, "canPublish": false,
		"canPublishData": false, "canUpdateOwnMetadata": false,
	}
	for what, token := range map[string]string{"granted": token, "limited": limited} {
		claims := claimsOf(t, token)
		if diff := cmp.Diff(any(want), claims["video"]); diff != "" || claims["kind"] != "agent" {
			t.Errorf("%s as %v (-want +got)\n%s", what, claims["kind"], diff)
		}
		attributes := claims["attributes"].(map[string]any)
		if len(attributes) != 1 || attributes["client"] == nil {
			t.Errorf("%s with attributes %v", what, attributes)
		}
	}
}
