// SPDX-License-Identifier: Apache-2.0

package outbound

import (
	"bufio"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"convene.dev/convene/internal/testkit"
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

// TestWhatIsNotReadTakesNoMemory: a server decides what it sends, and nothing of that is more than what a caller reads.
func TestWhatIsNotReadTakesNoMemory(t *testing.T) {
	transports := NewTransports(func(*http.Transport) {})
	var asked *http.Request
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		if r.URL.Path == "/long" {
			w.Header().Set("X-Long", strings.Repeat("x", maxHeader))
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "packed")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	transport := transports.For(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || string(body) != "packed" || asked.Header.Get("Accept-Encoding") != "" || asked.ProtoMajor != 1 {
		t.Errorf("%q, %v; asked by %s with %v", body, err, asked.Proto, asked.Header)
	}
	request.URL.Path = "/long"
	if answer, err := transport.RoundTrip(request); err == nil {
		_ = answer.Body.Close()
		t.Error("a long header is taken")
	}
}

// TestErrorsAreShort: an error repeats what a server sent, and goes into logs.
func TestErrorsAreShort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			// A transport calls an answer that comes before its request unsolicited.
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, "HTTP/1.1 "+strings.Repeat("é", maxHeader/4)+"\r\n\r\n")
			_ = conn.Close()
		}
	}()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := NewTransports(func(*http.Transport) {}).For("").RoundTrip(request)
	if err == nil {
		_ = answer.Body.Close()
		t.Fatal("no error")
	}
	if text := err.Error(); len(text) > maxErrorText || !utf8.ValidString(text) || errors.Unwrap(err) == nil {
		t.Errorf("%d bytes: %s", len(text), text)
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
}

func TestCheckBundle(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	good := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	odd := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("of an old kind")}))
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("key")}))
	for _, tc := range []struct{ reason, bundle, want string }{
		{"one", good, ""},
		{"two, and text around them", "# the root\n" + good + "# the other\n" + good + "the end", ""},
		{"one of many cannot be read", odd + good, ""},
		{"none can be read", odd, "no certificate"},
		{"no PEM", "no PEM", "no certificate"},
		{"a key beside", good + key, `"PRIVATE KEY"`},
		{"the second is cut off", good + good[:len(good)/2], "cut off"},
		{"the second has a letter too many", good + strings.Replace(good, "END C", "END  C", 1), "cut off"},
	} {
		err := CheckBundle([]byte(tc.bundle))
		if got := fmt.Sprint(err); (tc.want == "") != (err == nil) || !strings.Contains(got, tc.want) && tc.want != "" {
			t.Errorf("%s: %s", tc.reason, got)
		}
	}
	machine, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	if err == nil {
		err = CheckBundle(machine)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error("what a machine trusts: ", err)
	}
}

// TestTransportsAreShared: as long as somebody has the transport of a bundle. Whoever writes a MediaServer may change the bundle any number of
// times.
func TestTransportsAreShared(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	var connected atomic.Int32
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			connected.Add(1)
		case http.StateClosed:
			connected.Add(-1)
		}
	}
	server.Start()
	defer server.Close()
	made := 0
	all := NewTransports(func(*http.Transport) { made++ })
	first := all.For("a")
	if all.For("a") != first || all.For("") == first || made != 2 {
		t.Errorf("two bundles have %d transports", made-1)
	}
	for i := range 50 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := all.For(strings.Repeat("x", i+1)).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body) // The connection becomes idle.
		_ = answer.Body.Close()
	}
	testkit.Eventually(t, 20*time.Second, func() error {
		runtime.GC()
		all.mu.Lock()
		defer all.mu.Unlock()
		if n := len(all.byBundle); n != 1 || connected.Load() != 0 {
			return fmt.Errorf("%d transports are kept, and %d connections", n, connected.Load())
		}
		return nil
	})
	if all.For("a") != first {
		t.Error("a transport that is in use is forgotten")
	}
	runtime.KeepAlive(first)
}
