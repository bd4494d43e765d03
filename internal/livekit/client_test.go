// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/testkit"
)

func TestNewRefusesAServerThatCannotBe(t *testing.T) {
	cases := map[string]engine.Server{
		"nothing":           {},
		"no scheme":         {URL: "livekit:7880", Key: "k", Secret: "s"},
		"another scheme":    {URL: "ws://livekit:7880", Key: "k", Secret: "s"},
		"no host":           {URL: "http://", Key: "k", Secret: "s"},
		"a password in it":  {URL: "http://u:p@livekit:7880", Key: "k", Secret: "s"},
		"no key":            {URL: "http://livekit:7880", Secret: "s"},
		"no secret":         {URL: "http://livekit:7880", Key: "k"},
		"not a URL":         {URL: "http://[::1", Key: "k", Secret: "s"},
		"a control in port": {URL: "http://livekit:7880\n", Key: "k", Secret: "s"},
	}
	for name, server := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := livekit.New("media", server)
			wantKind(t, err, fault.KindInvalid)
		})
	}
}

func TestAServerThatRefusesOurKey(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	for name, server := range map[string]engine.Server{
		"another secret": {URL: h.URL, Key: h.Key, Secret: strings.Repeat("another ", 5)},
		"another key":    {URL: h.URL, Key: "another", Secret: h.Secret},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dial(t, server).Rooms(wait(t), "")
			wantKind(t, err, fault.KindUnavailable)
			if got := fault.As(err).Reason; got != "Unauthorized" {
				t.Errorf("reason is %s, want Unauthorized", got)
			}
			// Every JWT begins so.
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), "eyJ") {
					t.Errorf("the error repeats the token: %v", e)
				}
			}
		})
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	answer := func(status int, contentType, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(cut.Close)
	cases := map[string]struct {
		url  string
		want fault.Kind
	}{
		"nobody listens":            {"http://" + closed.Addr().String(), fault.KindUnavailable},
		"the connection is cut":     {cut.URL, fault.KindUnavailable},
		"a proxy without a backend": {answer(502, "text/html", "<h1>Bad gateway</h1>"), fault.KindUnavailable},
		"something else is there":   {answer(404, "text/html", "<h1>Not found</h1>"), fault.KindUnavailable},
		"a login page is there":     {answer(302, "text/html", "over there"), fault.KindUnavailable},
		"it answers no protobuf":    {answer(200, "text/html", "<h1>Welcome</h1>"), fault.KindUnavailable},
		"it has no node":            {answer(503, "application/json", `{"code":"unavailable","msg":"no response"}`), fault.KindUnavailable},
		"it asks for patience":      {answer(429, "application/json", `{"code":"resource_exhausted","msg":"slow down"}`), fault.KindUnavailable},
		"it has a bug":              {answer(500, "application/json", `{"code":"internal","msg":"panic"}`), fault.KindInternal},
		"it finds us wrong":         {answer(400, "application/json", `{"code":"invalid_argument","msg":"metadata size"}`), fault.KindInternal},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := dial(t, engine.Server{URL: c.url, Key: "key", Secret: "secret"})
			_, err := e.Rooms(wait(t), "")
			wantKind(t, err, c.want)
			err = e.Close(wait(t), "m-1", "")
			wantKind(t, err, c.want)
		})
	}
}

// TestWhatOthersRefuseIsNotLiveKitsRefusal: a wrong key is the operator's to correct, and a meeting stays where its participants are. What
// a proxy, a mesh or a web server answers says nothing about the key.
func TestWhatOthersRefuseIsNotLiveKitsRefusal(t *testing.T) {
	for status := http.StatusBadRequest; status < 600; status++ {
		for media, login := range map[string]string{"text/plain": "", "text/plain; charset=utf-8": "Bearer", "text/html": "", "application/json": ""} {
			if status == http.StatusUnauthorized && media == "text/plain" {
				continue // LiveKit's own answer, as TestAServerThatRefusesOurKey has it.
			}
			body := "RBAC: access denied"
			if media == "application/json" {
				body = `{"message": "Unauthorized"}`
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", media)
				if login != "" {
					w.Header().Set("WWW-Authenticate", login)
				}
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
			}))
			_, err := dial(t, engine.Server{URL: server.URL, Key: "key", Secret: "secret"}).Rooms(wait(t), "")
			server.Close()
			if f := fault.As(err); f.Kind != fault.KindUnavailable || f.Reason != "Unavailable" || strings.Contains(f.Error(), "key") {
				t.Errorf("status %d, %s, WWW-Authenticate %q: %v, %v (%s)", status, media, login, err, f.Kind, f.Reason)
			}
		}
	}
}

func TestACallThatIsGivenUp(t *testing.T) {
	held := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(held)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-held; cancel() }()
	_, err := dial(t, engine.Server{URL: server.URL, Key: "key", Secret: "secret"}).Rooms(ctx, "")
	wantKind(t, err, fault.KindUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the context's among its causes", err)
	}
}

func TestMetricsCountByVerbAndResult(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	if _, err := h.Participants(wait(t), room); err != nil {
		t.Fatal(err)
	}
	wantKind(t, h.Act(wait(t), room, engine.Hand{Who: "nobody"}), fault.KindNotFound)

	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(livekit.Metrics()); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, m := range families[0].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		got[labels["verb"]+" "+labels["result"]] = m.GetHistogram().GetSampleCount() > 0
	}
	for _, want := range []string{"CreateRoom ok", "ListParticipants ok", "UpdateParticipant not_found"} {
		if !got[want] {
			t.Errorf("%s is not counted: %v", want, got)
		}
	}
	if diff := cmp.Diff("convene_media_server_call_duration_seconds", families[0].GetName()); diff != "" {
		t.Error(diff)
	}
}
