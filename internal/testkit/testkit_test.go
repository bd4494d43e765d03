// SPDX-License-Identifier: Apache-2.0

package testkit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestControlPlaneHasCRDsAndOwnNamespaces(t *testing.T) {
	a, b := testkit.ControlPlane(t), testkit.ControlPlane(t)
	if a.Namespace == b.Namespace {
		t.Fatalf("both tests are in %s", a.Namespace)
	}
	if out := a.Kubectl(t, "get", "convene"); !strings.Contains(out, "No resources found") {
		t.Fatalf("kubectl get convene: %s", out)
	}
}

// TestLiveKitRestartsEmpty uses LiveKit's API directly: this package knows no engine adapter.
func TestLiveKitRestartsEmpty(t *testing.T) {
	s := testkit.LiveKit(t, testkit.LiveKitOptions{})
	roomService(t, s, "CreateRoom", map[string]any{"name": "one"})
	if got := rooms(t, s); !cmp.Equal(got, []string{"one"}) {
		t.Fatalf("rooms: %v", got)
	}
	s.Restart(t)
	if got := rooms(t, s); len(got) != 0 {
		t.Fatalf("rooms after the restart: %v", got)
	}
	s.Stop()
	s.Start(t)
}

func TestLiveKitSendsWebhooks(t *testing.T) {
	events := make(chan string, 16)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Event string }
		if json.NewDecoder(r.Body).Decode(&e) == nil {
			events <- e.Event
		}
	}))
	t.Cleanup(hook.Close)
	s := testkit.LiveKit(t, testkit.LiveKitOptions{WebhookURLs: []string{hook.URL}})
	roomService(t, s, "CreateRoom", map[string]any{"name": "one"})
	testkit.Eventually(t, 30*time.Second, func() error {
		select {
		case e := <-events:
			if e == "room_started" {
				return nil
			}
			return fmt.Errorf("event %s", e)
		default:
			return errors.New("no event")
		}
	})
}

func roomService(t *testing.T, s *testkit.LiveKitServer, method string, request map[string]any) []byte {
	t.Helper()
	now := time.Now()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": s.Key, "nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(time.Minute).Unix(),
		"video": map[string]any{"roomCreate": true, "roomList": true},
	}).SignedString([]byte(s.Secret))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/twirp/livekit.RoomService/"+method,
		bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", method, resp.Status, buf.String())
	}
	return buf.Bytes()
}

func rooms(t *testing.T, s *testkit.LiveKitServer) []string {
	t.Helper()
	var list struct{ Rooms []struct{ Name string } }
	if err := json.Unmarshal(roomService(t, s, "ListRooms", map[string]any{}), &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range list.Rooms {
		names = append(names, r.Name)
	}
	return names
}
