// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"convene.dev/convene/internal/testkit"
)

// pair is a certificate and its key in files.
type pair struct{ cert, key string }

// renew writes a new certificate for 127.0.0.1, and returns a client that trusts it alone.
func (p pair) renew(t *testing.T, serial int64) *http.Client {
	t.Helper()
	trusted := x509.NewCertPool()
	trusted.AddCert(testkit.Certificate(t, p.cert, p.key, serial))
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableKeepAlives: true}}
}

// TestTheManagerServesTLS: with certificate files no proxy is needed: API, pages and signalling are under TLS, and a new
// certificate is taken up without a restart.
func TestTheManagerServesTLS(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "board"})
	files := pair{cert: filepath.Join(t.TempDir(), "tls.crt"), key: filepath.Join(t.TempDir(), "tls.key")}
	client := files.renew(t, 1)
	m := testkit.Manager(t, w.Cluster, testkit.ManagerOptions{
		DefaultConfig: w.Namespace + "/default",
		Args: []string{
			"--leader-elect", "--leader-election-namespace", w.Namespace, "--tls-cert-file=" + files.cert, "--tls-key-file=" + files.key,
		},
	})
	at := "https://" + m.Addresses[0]
	ask := func(client *http.Client, method, path, body string) (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", w.a.key)
		response, err := client.Do(request)
		if err == nil && response.StatusCode != http.StatusOK {
			_ = response.Body.Close()
			err = fmt.Errorf("%s answers %s", path, response.Status)
		}
		return response, err
	}
	for _, path := range []string{"/api/v1/stats", "/join/board"} {
		response, err := ask(client, http.MethodGet, path, "")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	response, err := ask(client, http.MethodPost, "/session", `{"room":"board","name":"Ada"}`)
	if err != nil {
		t.Fatal(err)
	}
	var in entry
	err = json.NewDecoder(response.Body).Decode(&in)
	_ = response.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	signalling, handshake, err := websocket.Dial(ctx, at+"/media-server/rtc?protocol=15&sdk=go&access_token="+url.QueryEscape(in.Engine.Token),
		&websocket.DialOptions{HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	if handshake.Body != nil {
		_ = handshake.Body.Close()
	}
	defer func() { _ = signalling.CloseNow() }()
	if _, joined, err := signalling.Read(ctx); err != nil || len(joined) == 0 {
		t.Fatalf("LiveKit's first message: %d bytes, %v", len(joined), err)
	}

	renewed := files.renew(t, 2)
	w.eventually(t, func() error {
		response, err := ask(renewed, http.MethodGet, "/api/v1/stats", "")
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	})
	if response, err := ask(client, http.MethodGet, "/api/v1/stats", ""); err == nil {
		_ = response.Body.Close()
		t.Error("the old certificate is still shown")
	}
}
