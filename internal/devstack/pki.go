// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The certificates of a local control plane, as names of files in its PKI folder.
const (
	certServing = "serving"
	certEtcd    = "etcd-client"
	certAdmin   = "admin"
	fileCA      = "ca.crt"
	fileSAKey   = "service-account.key"
)

const (
	certLifetime = 10 * 365 * 24 * time.Hour
	certRenewal  = 30 * 24 * time.Hour
)

// PKI is a folder with a certificate authority of its own and what it has signed. Everything, etcd too, takes only
// clients with such a certificate: other users of the machine can reach the ports.
type PKI struct {
	dir string
}

// User is whom a client certificate stands for.
type User struct {
	// Name of the file, and of the context in the kubeconfig.
	File   string
	Name   string
	Groups []string
	// Hosts are the names and addresses at which the user also serves with the certificate.
	Hosts []string
}

// Admin may do everything.
var Admin = User{File: certAdmin, Name: "admin", Groups: []string{"system:masters"}}

// OpenPKI opens the folder, and makes it, with a client certificate for every user, when it is missing, lacks a file
// or is about to expire.
func OpenPKI(dir string, now time.Time, users ...User) (*PKI, error) {
	users = append([]User{Admin}, users...)
	p := &PKI{dir: dir}
	if p.usable(now, users) == nil {
		return p, nil
	}
	// Made beside it and renamed: a folder that is there is whole.
	fresh := dir + ".new"
	if err := errors.Join(os.RemoveAll(fresh), os.MkdirAll(fresh, 0o700)); err != nil {
		return nil, err
	}
	if err := issueAll(fresh, now, users); err != nil {
		return nil, fmt.Errorf("make certificates: %w", err)
	}
	return p, errors.Join(os.RemoveAll(dir), os.Rename(fresh, dir))
}

func (p *PKI) path(file string) string { return filepath.Join(p.dir, file) }

func (p *PKI) usable(now time.Time, users []User) error {
	names := []string{certServing, certEtcd}
	for _, u := range users {
		names = append(names, u.File)
	}
	for _, name := range names {
		pair, err := tls.LoadX509KeyPair(p.path(name+".crt"), p.path(name+".key"))
		if err != nil {
			return err
		}
		if now.Add(certRenewal).After(pair.Leaf.NotAfter) {
			return fmt.Errorf("%s expires on %s", name, pair.Leaf.NotAfter)
		}
	}
	_, err := os.Stat(p.path(fileSAKey))
	return err
}

// clientTLS returns the TLS settings of a client with the named certificate.
func (p *PKI) clientTLS(name string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(p.path(name+".crt"), p.path(name+".key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(p.path(fileCA))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS13}, nil
}

func issueAll(dir string, now time.Time, users []User) error {
	ca := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "convene-local"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	caKey, err := issue(dir, "ca", ca, nil, nil, now)
	if err != nil {
		return err
	}
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	leaves := map[string]*x509.Certificate{
		certServing: {
			Subject:     pkix.Name{CommonName: "kube-apiserver"},
			DNSNames:    []string{"localhost", "kubernetes.default.svc"},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
			ExtKeyUsage: both,
		},
		certEtcd: {Subject: pkix.Name{CommonName: "etcd-client"}, ExtKeyUsage: client},
	}
	for _, u := range users {
		leaves[u.File] = u.certificate()
	}
	for name, leaf := range leaves {
		leaf.KeyUsage = x509.KeyUsageDigitalSignature
		if _, err := issue(dir, name, leaf, ca, caKey, now); err != nil {
			return err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(filepath.Join(dir, fileSAKey), key)
}

func (u User) certificate() *x509.Certificate {
	c := &x509.Certificate{
		Subject:     pkix.Name{CommonName: u.Name, Organization: u.Groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, host := range u.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, host)
		}
	}
	if len(u.Hosts) > 0 {
		c.ExtKeyUsage = append(c.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	return c
}

// issue makes a key, has it signed by the parent (nil: by itself), and writes NAME.crt and NAME.key.
func issue(dir, name string, cert, parent *x509.Certificate, signer crypto.Signer, now time.Time) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	cert.SerialNumber = serial
	cert.NotBefore = now.Add(-time.Hour)
	cert.NotAfter = now.Add(certLifetime)
	if parent == nil {
		parent, signer = cert, key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(filepath.Join(dir, name+".crt"), block, 0o600); err != nil {
		return nil, err
	}
	return key, writeKey(filepath.Join(dir, name+".key"), key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}
