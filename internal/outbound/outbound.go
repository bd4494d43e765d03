// SPDX-License-Identifier: Apache-2.0

// Package outbound makes the HTTP transports with which the manager calls addresses that a custom resource names.
package outbound

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"weak"
)

// ErrForbidden is for an address that is never called: clouds give their credentials to anyone who asks there.
var ErrForbidden = errors.New("link-local addresses, and those at which clouds answer their machines, are not called: use another address of the media server")

// answersMachines are addresses at which clouds answer their machines and that are not link-local: AWS, Google, Scaleway and
// Oracle over IPv6, Alibaba, Azure and Oracle.
var answersMachines = map[netip.Addr]bool{
	netip.MustParseAddr("fd00:ec2::254"):      true,
	netip.MustParseAddr("fd20:ce::254"):       true,
	netip.MustParseAddr("fd00:42::42"):        true,
	netip.MustParseAddr("fd00:c1::a9fe:a9fe"): true,
	netip.MustParseAddr("100.100.100.200"):    true,
	netip.MustParseAddr("168.63.129.16"):      true,
	netip.MustParseAddr("192.0.0.192"):        true,
}

// nat64 has the prefixes of NAT64 (RFC 6052 and 8215): the last four bytes of their addresses are the IPv4 address that is reached.
var nat64 = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48")}

// Transports shares one transport for each bundle of certificate authorities that is in use. It is safe for concurrent use.
type Transports struct {
	configure func(*http.Transport)
	// ofMachine trusts what the machine trusts.
	ofMachine *transport

	mu sync.Mutex
	// byBundle does not keep a transport that nobody else has: bundles change as often as whoever writes a MediaServer likes.
	byBundle map[string]weak.Pointer[transport]
}

// NewTransports makes Transports. Each new transport is configured once.
func NewTransports(configure func(*http.Transport)) *Transports {
	t := &Transports{configure: configure, byBundle: map[string]weak.Pointer[transport]{}}
	t.ofMachine = t.newTransport("")
	return t
}

// For is the transport that trusts the certificates of caBundle (PEM), or those of the machine where it is empty. A caBundle
// without any certificate trusts none. The transport connects to no address that is forbidden, whatever a name resolves to, and
// never by way of a proxy: the proxy would resolve the name again.
func (t *Transports) For(caBundle string) http.RoundTripper {
	if caBundle == "" {
		return t.ofMachine
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.byBundle[caBundle].Value(); found != nil {
		return found
	}
	made := t.newTransport(caBundle)
	t.byBundle[caBundle] = weak.Make(made)
	runtime.AddCleanup(made, func(unused *http.Transport) { t.forget(caBundle, unused) }, made.Transport)
	return made
}

func (t *Transports) newTransport(caBundle string) *transport {
	made := newTransport(caBundle)
	t.configure(made)
	return &transport{made}
}

// forget ends the idle connections of a transport that nobody has any more: they would keep it for another minute and a half.
func (t *Transports) forget(caBundle string, unused *http.Transport) {
	unused.CloseIdleConnections()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byBundle[caBundle].Value() == nil {
		delete(t.byBundle, caBundle)
	}
}

// transport cuts the texts of errors, which repeat what a server sent.
type transport struct{ *http.Transport }

func (s *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.Transport.RoundTrip(r)
	if err != nil && len(err.Error()) > maxErrorText {
		err = &shortError{err}
	}
	return answer, err
}

// maxErrorText is how long the text of an error is, in bytes.
const maxErrorText = 500

type shortError struct{ error }

func (e *shortError) Error() string { return strings.ToValidUTF8(e.error.Error()[:maxErrorText], "") }

func (e *shortError) Unwrap() error { return e.error }

// maxHeader is twice what nginx, in front of a media server, takes for the header of an answer, in bytes.
const maxHeader = 16 << 10

// newTransport makes a transport that takes no more memory than what it is asked to read: it unpacks nothing, and speaks HTTP/1 alone, where
// nothing arrives that is not read.
func newTransport(caBundle string) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: refuseForbidden}
	t.DialContext, t.Proxy = dialer.DialContext, nil
	t.DisableCompression, t.MaxResponseHeaderBytes = true, maxHeader
	t.Protocols = &http.Protocols{}
	t.Protocols.SetHTTP1(true)
	if caBundle != "" {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(caBundle))
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return t
}

// CheckBundle reports why a caBundle cannot be used: none of its certificates can be read, or it holds something else beside, which would be
// left out. Text around the parts is no error, and neither is one of many certificates that cannot be read: authorities have some of old kinds.
func CheckBundle(caBundle []byte) error {
	if !x509.NewCertPool().AppendCertsFromPEM(caBundle) {
		return errors.New("holds no certificate; give it as PEM")
	}
	rest := caBundle
	for block, after := pem.Decode(rest); block != nil; block, after = pem.Decode(rest) {
		if rest = after; block.Type != "CERTIFICATE" {
			return fmt.Errorf("may hold parts of the type CERTIFICATE alone, and has one of the type %.40q; take that out", block.Type)
		}
	}
	if bytes.Contains(rest, []byte("-----BEGIN ")) {
		return errors.New("ends in a part that is cut off or changed; give it whole, as PEM")
	}
	return nil
}

// refuseForbidden looks at the address that is connected to, after names have been resolved.
func refuseForbidden(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if isForbidden(at.Addr()) {
		return ErrForbidden
	}
	return nil
}

func isForbidden(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || answersMachines[ip] {
		return true
	}
	if slices.ContainsFunc(nat64, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		bytes := ip.As16()
		return isForbidden(netip.AddrFrom4([4]byte(bytes[12:])))
	}
	return false
}
