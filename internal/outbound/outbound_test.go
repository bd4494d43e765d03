// SPDX-License-Identifier: Apache-2.0

package outbound

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
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
func TestForbiddenAddressesAreNotCalled(t *testing.T) {
	for _, url := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://[::ffff:169.254.169.254]/", "http://[fe80::1%25lo]/", "http://[ff02::1%25lo]/", "http://224.0.0.1/",
		"http://[fd00:ec2::254]/", "http://[fd20:ce::254]/", "http://[fd00:42::42]/", "http://[fd00:c1::a9fe:a9fe]/", "http://100.100.100.200/", "http://168.63.129.16/", "http://192.0.0.192/",
	} {
		if err := get(t, newTransport(""), url); !errors.Is(err, ErrForbidden) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Each IPv4 address that is forbidden is so in each form in which IPv6 can carry it, and no other is.
func TestForbiddenAddressesInEveryForm(t *testing.T) {
	forms := map[string]string{
		"mapped": "::ffff:%02x%02x:%02x%02x", "NAT64": "64:ff9b::%02x%02x:%02x%02x", "local NAT64": "64:ff9b:1::%02x%02x:%02x%02x",
	}
	for address, forbidden := range map[[4]byte]bool{
		{169, 254, 169, 254}: true, {169, 254, 0, 1}: true, {100, 100, 100, 200}: true, {168, 63, 129, 16}: true, {224, 0, 0, 1}: true,
		{10, 0, 0, 1}: false, {100, 100, 100, 201}: false, {192, 0, 2, 1}: false,
	} {
		for form, format := range forms {
			ip := netip.MustParseAddr(fmt.Sprintf(format, address[0], address[1], address[2], address[3]))
			err := refuseForbidden("tcp6", netip.AddrPortFrom(ip, 80).String(), nil)
			if errors.Is(err, ErrForbidden) != forbidden || err != nil && !forbidden {
				t.Errorf("%v, %s as %s: %v", address, form, ip, err)
			}
		}
	}
	for _, ip := range []string{"::1", "127.0.0.1", "fd00::1", "2001:db8::1"} {
		if isForbidden(netip.MustParseAddr(ip)) {
			t.Errorf("%s is forbidden", ip)
		}
	}
}

// A proxy would connect to what a name stands for when the proxy resolves it, past the check.
func TestNoProxyIsUsed(t *testing.T) {
	for _, caBundle := range []string{"", "no PEM"} {
		if newTransport(caBundle).Proxy != nil {
			t.Errorf("caBundle %q: the transport honors HTTP_PROXY", caBundle)
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
