// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/livekit/protocol/auth"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit"
)

type delivery struct {
	authorization string
	body          []byte
}

func TestHintOfARealWebhook(t *testing.T) {
	deliveries := make(chan delivery, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		deliveries <- delivery{r.Header.Get("Authorization"), body}
	}))
	t.Cleanup(server.Close)
	h := open(t, testkit.LiveKitOptions{WebhookURLs: []string{server.URL}})
	room := h.room(t)
	p := h.join(t, room, "one", engine.Traits{})
	p.Close()

	var last delivery
	for event := ""; event != "participant_left"; {
		select {
		case last = <-deliveries:
		case <-wait(t).Done():
			t.Fatal("no webhook comes")
		}
		for _, e := range []string{"room_started", "participant_joined", "participant_left"} {
			if strings.Contains(string(last.body), `"`+e+`"`) {
				event = e
			}
		}
		if got, err := h.Hint(last.authorization, last.body); err != nil || got != room {
			t.Errorf("hint is %q with error %v, want %q: %s", got, err, room, last.body)
		}
	}

	own := h.grant(t, room, "one", engine.Traits{})
	other := dial(t, engine.Server{URL: h.URL, Key: h.Key, Secret: "another"})
	forged := map[string]struct {
		e        engine.Engine
		delivery delivery
	}{
		"no authorization":         {h, delivery{"", last.body}},
		"another body":             {h, delivery{last.authorization, []byte(strings.Replace(string(last.body), string(room), "m-2", 1))}},
		"no body":                  {h, delivery{last.authorization, nil}},
		"a peer's access token":    {h, delivery{own, last.body}},
		"a peer's and no body":     {h, delivery{own, nil}},
		"another server's secret":  {other, last},
		"a cut authorization":      {h, delivery{last.authorization[:len(last.authorization)-2], last.body}},
		"a scheme in front":        {h, delivery{"Bearer " + last.authorization, last.body}},
		"a body with more behind":  {h, delivery{last.authorization, append(append([]byte{}, last.body...), ' ')}},
		"an authorization of dots": {h, delivery{"..", last.body}},
	}
	for name, f := range forged {
		t.Run(name, func(t *testing.T) {
			got, err := f.e.Hint(f.delivery.authorization, f.delivery.body)
			wantKind(t, err, fault.KindDenied)
			if got != "" {
				t.Errorf("hint is %q", got)
			}
		})
	}
}

// signed is what a LiveKit with the key of nowhere would send.
func signed(t testing.TB, body string) delivery {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	token, err := auth.NewAccessToken(nowhere.Key, nowhere.Secret).
		SetSha256(base64.StdEncoding.EncodeToString(sum[:])).ToJWT()
	if err != nil {
		t.Fatal(err)
	}
	return delivery{token, []byte(body)}
}

func TestHintReadsWhatIsSigned(t *testing.T) {
	cases := map[string]struct {
		body string
		want engine.RoomName
		kind fault.Kind
	}{
		"an event":                  {`{"event":"room_started","room":{"name":"m-1"}}`, "m-1", 0},
		"one of a newer server":     {`{"event":"x","room":{"name":"m-1","new":[1]},"newer":{}}`, "m-1", 0},
		"an event about no room":    {`{"event":"ingress_started"}`, "", fault.KindInvalid},
		"an event with a null room": {`{"event":"x","room":null}`, "", fault.KindInvalid},
		"not an object":             {`[]`, "", fault.KindInvalid},
		"not JSON":                  {`hello`, "", fault.KindInvalid},
		"nothing":                   {``, "", fault.KindInvalid},
	}
	e := dial(t, nowhere)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := signed(t, c.body)
			got, err := e.Hint(d.authorization, d.body)
			if got != c.want {
				t.Errorf("hint is %q, want %q", got, c.want)
			}
			if c.want == "" {
				wantKind(t, err, c.kind)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
