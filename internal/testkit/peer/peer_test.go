// SPDX-License-Identifier: Apache-2.0

package peer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

func TestJoinIsRefused(t *testing.T) {
	server := testkit.LiveKit(t, testkit.LiveKitOptions{})
	const token = "eyJ0b2tlbg.eyJ0b2tlbg.c2VjcmV0"
	cases := map[string]struct {
		url    string
		status int
	}{
		"by a server that does not know the token": {server.URL, 401},
		"by nobody":                   {"http://127.0.0.1:9", 0},
		"at a path that is not there": {server.URL + "/elsewhere", 401},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := peer.Join(ctx, c.url, token)
			refused := (*peer.RefusedError)(nil)
			if !errors.As(err, &refused) || refused.Status != c.status {
				t.Fatalf("error is %v, want a refusal with status %d", err, c.status)
			}
			if strings.Contains(err.Error(), token) {
				t.Errorf("the error repeats the token: %v", err)
			}
		})
	}
}
