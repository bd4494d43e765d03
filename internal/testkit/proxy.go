// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Fault is what is done to a request instead of passing it on; pass passes it on.
type Fault func(w http.ResponseWriter, r *http.Request, pass http.Handler)

// Proxy stands in front of a real server and does to chosen requests what networks and servers do. Which requests
// those are is the test's choice, so that every fault has its place.
type Proxy struct {
	// URL that clients use instead of the server's.
	URL string

	server *httptest.Server
	choose atomic.Pointer[func(*http.Request) Fault]
}

// Place has every request from now on shown to choose, which says what is done to it; nil passes it on.
func (p *Proxy) Place(choose func(*http.Request) Fault) {
	if choose == nil {
		p.choose.Store(nil)
		return
	}
	p.choose.Store(&choose)
}

// CutAll breaks every connection, watches included, as a network does that goes.
func (p *Proxy) CutAll() { p.server.CloseClientConnections() }

func newProxy(t testing.TB, upstream string, transport http.RoundTripper) *Proxy {
	t.Helper()
	to, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:     transport,
		FlushInterval: -1, // watches have to arrive as they are written
		ErrorLog:      log.New(io.Discard, "", 0),
		// A server that is away is that for the client too: an answer of a proxy would say that something is there.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p := &Proxy{}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if choose := p.choose.Load(); choose != nil {
			if fault := (*choose)(r); fault != nil {
				fault(w, r, pass)
				return
			}
		}
		pass.ServeHTTP(w, r)
	}))
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(func() {
		// What hangs would be waited for.
		p.server.CloseClientConnections()
		p.server.Close()
	})
	return p
}

// HTTPProxy stands in front of a server that speaks HTTP, as LiveKit does.
func HTTPProxy(t testing.TB, upstream string) *Proxy {
	t.Helper()
	p := newProxy(t, upstream, &http.Transport{})
	p.server.Start()
	p.URL = p.server.URL
	return p
}

// APIServerProxy stands in front of the API server. The kubeconfig leads through it, with an administrator's rights.
func (c *Cluster) APIServerProxy(t testing.TB) (p *Proxy, kubeconfig string) {
	t.Helper()
	transport, err := rest.TransportFor(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	p = newProxy(t, c.Config.Host, transport)
	p.server.EnableHTTP2 = true // as API servers speak it: one connection for everything
	p.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	p.server.StartTLS()
	p.URL = p.server.URL
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	const name = "proxy"
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server:                   p.URL,
			CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw}),
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return p, kubeconfig
}
