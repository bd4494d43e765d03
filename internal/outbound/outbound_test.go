// SPDX-License-Identifier: Apache-2.0

package outbound

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func get(t *testing.T, transport *http.Transport, url string) error {
	t.Helper()
	t.Cleanup(transport.CloseIdleConnections)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(request)
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

// The addresses where clouds answer with credentials are not called, in whatever form they are written.
func TestLinkLocalAddressesAreNotCalled(t *testing.T) {
	for _, url := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://[::ffff:169.254.169.254]/", "http://[fe80::1%25lo]/", "http://[ff02::1%25lo]/", "http://224.0.0.1/",
	} {
		if err := get(t, newTransport(""), url); !errors.Is(err, ErrLinkLocal) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestCABundle(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := get(t, newTransport(string(bundle)), server.URL); err != nil {
		t.Errorf("a server whose certificate is in the bundle: %v", err)
	}
	for name, other := range map[string]string{"none": "", "without a certificate": "no PEM"} {
		if err := get(t, newTransport(other), server.URL); err == nil {
			t.Errorf("a bundle %s: the server is trusted", name)
		}
	}
	if !HasCertificate(bundle) || HasCertificate([]byte("no PEM")) {
		t.Error("a bundle is taken for what it is not")
	}
}

func TestTransportsAreShared(t *testing.T) {
	made := 0
	all := NewTransports(func(*http.Transport) { made++ })
	first := all.For("a")
	if all.For("a") != first || all.For("") == first || made != 2 {
		t.Errorf("two bundles have %d transports", made)
	}
}
