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
	"sync"
	"syscall"
	"time"
)

// ErrLinkLocal is for an address that is never called: clouds give their credentials to anyone who asks there.
var ErrLinkLocal = errors.New("link-local addresses are not called; use another address of the media server")

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
// without any certificate trusts none. The transport connects to no link-local address, whatever a name resolves to.
func (t *Transports) For(caBundle string) *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byBundle[caBundle] == nil {
		made := newTransport(caBundle)
		t.configure(made)
		t.byBundle[caBundle] = made
	}
	return t.byBundle[caBundle]
}

func newTransport(caBundle string) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: refuseLinkLocal}
	t.DialContext = dialer.DialContext
	if caBundle != "" {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(caBundle))
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return t
}

// HasCertificate reports whether PEM text holds a certificate.
func HasCertificate(caBundle []byte) bool { return x509.NewCertPool().AppendCertsFromPEM(caBundle) }

// refuseLinkLocal looks at the address that is connected to, after names have been resolved.
func refuseLinkLocal(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if ip := at.Addr().Unmap(); ip.IsLinkLocalUnicast() || ip.IsMulticast() {
		return ErrLinkLocal
	}
	return nil
}
