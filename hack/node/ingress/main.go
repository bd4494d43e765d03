// SPDX-License-Identifier: Apache-2.0

// Command ingress is a small ingress controller for tests: it does what the Ingresses of one class say, and all HTTPRoutes, over TLS,
// WebSockets included. It takes the certificate of the Secret that an Ingress names, or the Gateway of an HTTPRoute.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lookEvery is how soon a change of an Ingress is seen.
const lookEvery = 500 * time.Millisecond

func main() {
	class := flag.String("class", "node", "the class of the Ingresses")
	listen := flag.String("listen", ":8443", "the address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *class, *listen); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, class, listen string) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		return err
	}
	t := &table{Client: c, class: class}
	if err := t.look(ctx); err != nil {
		return err
	}
	go t.follow(ctx)
	server := &http.Server{
		Addr: listen, Handler: t, ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: t.certificate, NextProtos: []string{"h2", "http/1.1"}},
	}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServeTLS("", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// table is what the Ingresses say, as last looked at.
type table struct {
	client.Client
	class string
	now   atomic.Pointer[[]route]
}

// route leads from a host, or all below one (*.example.com), and a prefix of the path to a Service.
type route struct {
	host, prefix string
	certificate  *tls.Certificate
	proxy        *httputil.ReverseProxy
}

func (r route) takes(host string) bool {
	below, wildcard := strings.CutPrefix(r.host, "*")
	return r.host == host || wildcard && strings.HasSuffix(host, below)
}

func (t *table) follow(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := t.look(ctx); err != nil && ctx.Err() == nil {
				log.Print(err)
			}
		}
	}
}

func (t *table) look(ctx context.Context) error {
	var all networkingv1.IngressList
	if err := t.List(ctx, &all); err != nil {
		return err
	}
	routes := []route{}
	for _, i := range all.Items {
		if i.Spec.IngressClassName == nil || *i.Spec.IngressClassName != t.class {
			continue
		}
		if len(i.Spec.TLS) == 0 {
			return fmt.Errorf("ingress %s/%s: it names no TLS Secret", i.Namespace, i.Name)
		}
		certificate, err := t.secret(ctx, i.Namespace, i.Spec.TLS[0].SecretName)
		if err != nil {
			return fmt.Errorf("ingress %s/%s: %w", i.Namespace, i.Name, err)
		}
		for _, rule := range i.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				to, err := t.service(ctx, i.Namespace, path.Backend.Service.Name, path.Backend.Service.Port)
				if err != nil {
					return fmt.Errorf("ingress %s/%s: %w", i.Namespace, i.Name, err)
				}
				routes = append(routes, route{rule.Host, path.Path, certificate, proxy(to)})
			}
		}
	}
	more, err := t.httpRoutes(ctx)
	if err != nil {
		return err
	}
	routes = append(routes, more...)
	t.now.Store(&routes)
	return nil
}

func (t *table) secret(ctx context.Context, namespace, name string) (*tls.Certificate, error) {
	var secret corev1.Secret
	if err := t.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret); err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	return &pair, err
}

// service is the URL of a Service's port.
func (t *table) service(ctx context.Context, namespace, name string, at networkingv1.ServiceBackendPort) (*url.URL, error) {
	var s corev1.Service
	if err := t.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &s); err != nil {
		return nil, err
	}
	for _, port := range s.Spec.Ports {
		if port.Name == at.Name || port.Port == at.Number {
			return &url.URL{Scheme: "http", Host: net.JoinHostPort(s.Name+"."+s.Namespace+".svc.cluster.local", fmt.Sprint(port.Port))}, nil
		}
	}
	return nil, fmt.Errorf("service %s has no such port: %+v", s.Name, at)
}

// transport is one for all routes, so that connections outlive a look.
var transport = &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 30 * time.Second, ResponseHeaderTimeout: time.Minute}

func proxy(to *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}}
}

// ServeHTTP passes a request on.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	for _, route := range *t.now.Load() {
		if route.takes(host) && strings.HasPrefix(r.URL.Path, route.prefix) {
			route.proxy.ServeHTTP(w, r)
			return
		}
	}
	http.NotFound(w, r)
}

func (t *table) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	for _, route := range *t.now.Load() {
		if route.takes(hello.ServerName) {
			return route.certificate, nil
		}
	}
	return nil, fmt.Errorf("no Ingress of this class, and no HTTPRoute, has the host %q: %w", hello.ServerName, os.ErrNotExist)
}
