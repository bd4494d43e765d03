// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const certLifetime = 7 * 24 * time.Hour

// user is whom a client certificate stands for.
type user struct {
	// File is the name of the certificate, and of the kubeconfig.
	File   string
	Name   string
	Groups []string
	// Hosts are the names and addresses at which the user also serves with the certificate.
	Hosts []string
}

// issueAll makes a certificate authority, what it signs for every user, and the key of service accounts.
func (n *node) issueAll(users []user) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: n.Name}, key)
	if err != nil {
		return err
	}
	if err := n.write("ca", key, ca); err != nil {
		return err
	}
	for serial, u := range users {
		if err := n.issue(int64(serial), u, ca, key); err != nil {
			return err
		}
	}
	_, _, err = keyutil.LoadOrGenerateKeyFile(n.serviceAccountKey())
	return err
}

// issue makes a certificate for a user.
func (n *node) issue(serial int64, u user, ca *x509.Certificate, signer crypto.Signer) error {
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1 + serial),
		NotBefore:    ca.NotBefore, NotAfter: time.Now().Add(certLifetime),
		Subject:     pkix.Name{CommonName: u.Name, Organization: u.Groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	for _, host := range u.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, host)
		}
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, c, ca, key.Public(), signer)
	if err != nil {
		return err
	}
	return n.write(u.File, key, &x509.Certificate{Raw: der})
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// write writes NAME.crt and NAME.key.
func (n *node) write(name string, key crypto.Signer, c *x509.Certificate) error {
	private, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	public, err := cert.EncodeCertificates(c)
	if err != nil {
		return err
	}
	return errors.Join(keyutil.WriteKey(n.key(name, "key"), private), cert.WriteCert(n.key(name, "crt"), public))
}

// writeKubeconfig writes a kubeconfig for the user.
func (n *node) writeKubeconfig(u user) error {
	const cluster = "node"
	kubeconfig := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			cluster: {Server: "https://127.0.0.1:6443", CertificateAuthority: n.key("ca", "crt")},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			u.File: {ClientCertificate: n.key(u.File, "crt"), ClientKey: n.key(u.File, "key")},
		},
		Contexts:       map[string]*clientcmdapi.Context{cluster: {Cluster: cluster, AuthInfo: u.File}},
		CurrentContext: cluster,
	}
	// With the certificates themselves: programs in other mount namespaces read it too.
	return errors.Join(clientcmdapi.FlattenConfig(&kubeconfig), clientcmd.WriteToFile(kubeconfig, n.config(u.File+".kubeconfig")))
}
