// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// TestAMuteIsOfEverySound: a microphone that a changed page calls the sound of its screen is muted like any other, and told
// of in the listing.
func TestAMuteIsOfEverySound(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	const room = "quiet"
	_, ada := w.a.enter(map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})
	eve, e := w.a.enter(map[string]any{"room": room, "name": "Eve"})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := eve.Publish(ctx, peer.MicrophoneAsScreen); err != nil {
		t.Fatal(err)
	}
	heard := func(want bool) func() error {
		return func() error {
			listed := w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
			_, after, _ := strings.Cut(listed.raw, `"name":"Eve"`)
			if row, _, _ := strings.Cut(after, "}"); !strings.Contains(row, fmt.Sprintf(`"audio":%v`, want)) {
				return fmt.Errorf("the listing: %s", listed.raw)
			}
			return nil
		}
	}
	w.eventually(t, heard(true))
	if r := w.a.as(ada.Session, "POST", "/session/act", map[string]any{"action": "lockMicrophone", "identity": e.You.Identity}); r.status != http.StatusNoContent {
		t.Fatalf("mute: %d %s", r.status, r.raw)
	}
	w.eventually(t, heard(false))
	for _, source := range []peer.Source{peer.Microphone, peer.MicrophoneAsScreen} {
		if _, err := eve.Publish(ctx, source); !errors.Is(err, peer.ErrNotAllowed) {
			t.Errorf("source %d after the mute: %v", source, err)
		}
	}
	if _, err := eve.Publish(ctx, peer.Screen); err != nil {
		t.Errorf("the screen's picture after the mute: %v", err)
	}
}
