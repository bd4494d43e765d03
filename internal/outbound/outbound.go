// SPDX-License-Identifier: Apache-2.0

// Package outbound makes the HTTP transports with which the manager calls addresses that a custom resource names.
package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
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

// Transports keeps one transport for each bundle of certificate authorities. It is safe for concurrent use.
type Transports struct {
	configure func(*http.Transport)

	mu       sync.Mutex
	byBundle map[string]*http.Transport
}

// NewTransports makes Transports. Each new transport is configured once.
func NewTransports(configure func(*http.Transport)) *Transports {
	return &Transports{configure: configure, byBundle: map[string]*http.Transport{}}
}

// For is the transport that trusts the certificates of caBundle (PEM), or those of the machine where it is empty. A caBundle
// without any certificate trusts none. The transport connects to no address that is forbidden, whatever a name resolves to, and
// never by way of a proxy: the proxy would resolve the name again.
func (t *Transports) For(caBundle string) http.RoundTripper {
	return shortErrors{t.transport(caBundle)}
}

// shortErrors cuts the texts of errors, which repeat what a server sent.
type shortErrors struct{ *http.Transport }

func (s shortErrors) RoundTrip(r *http.Request) (*http.Response, error) {
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

func (t *Transports) transport(caBundle string) *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byBundle[caBundle] == nil {
		made := newTransport(caBundle)
		t.configure(made)
		t.byBundle[caBundle] = made
	}
	return t.byBundle[caBundle]
}

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

// HasCertificate reports whether PEM text holds a certificate.
func HasCertificate(caBundle []byte) bool { return x509.NewCertPool().AppendCertsFromPEM(caBundle) }

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
