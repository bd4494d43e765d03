// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// ControlPlane is an etcd and a kube-apiserver with their data in a folder of their own. Each can be killed and
// started again, on the same port and data.
type ControlPlane struct {
	Binaries Binaries
	// Dir holds data and certificates, and logs unless Logs names another folder.
	Dir, Logs string
	// EtcdPort and APIPort on 127.0.0.1.
	EtcdPort, APIPort int
	// Users are given client certificates, beside Admin.
	Users []User
	// Namespace that kubeconfigs lead to; empty means default.
	Namespace string
	// APIServerArgs are further flags of the kube-apiserver.
	APIServerArgs []string
	// NoFsync makes etcd quick and lets it forget its last writes in a crash of the machine (not of the process).
	NoFsync bool
	// ServiceAccounts says that a kube-controller-manager makes them, so that pods need not be taken without.
	ServiceAccounts bool

	Etcd, APIServer *Process

	pki *PKI
}

// Open makes the certificates where they are missing. Kubeconfig can be called after it.
func (c *ControlPlane) Open(now time.Time) error {
	pki, err := OpenPKI(filepath.Join(c.Dir, "pki"), now, c.Users...)
	c.pki = pki
	return err
}

// StartEtcd starts etcd and returns once it serves.
func (c *ControlPlane) StartEtcd(ctx context.Context) error {
	ready, err := c.httpReady(certEtcd, c.etcdURL()+"/readyz")
	if err != nil {
		return err
	}
	data := filepath.Join(c.Dir, "etcd")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	args := []string{
		"--name=convene", "--data-dir=" + data, "--log-level=warn",
		"--listen-client-urls=" + c.etcdURL(), "--advertise-client-urls=" + c.etcdURL(),
		"--client-cert-auth", "--trusted-ca-file=" + c.pki.path(fileCA),
		"--cert-file=" + c.pki.path(certServing+".crt"), "--key-file=" + c.pki.path(certServing+".key"),
		// The one member has no peers, but etcd insists on listening for them: on a random port that is not used.
		"--listen-peer-urls=https://127.0.0.1:0",
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + c.pki.path(fileCA),
		"--peer-cert-file=" + c.pki.path(certServing+".crt"), "--peer-key-file=" + c.pki.path(certServing+".key"),
		"--enable-grpc-gateway=false",
	}
	if c.NoFsync {
		args = append(args, "--unsafe-no-fsync")
	}
	c.Etcd, err = Start(ctx, Command{
		Name: "etcd", Path: c.Binaries.Etcd, Args: args, LogDir: c.logDir(), Ready: ready, Grace: 5 * time.Second,
	})
	return err
}

// StartAPIServer starts kube-apiserver and returns once it is ready.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	ready, err := c.httpReady(certAdmin, c.URL()+"/readyz")
	if err != nil {
		return err
	}
	args := []string{
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.APIPort),
		"--cert-dir=" + c.pki.dir,
		"--tls-cert-file=" + c.pki.path(certServing+".crt"), "--tls-private-key-file=" + c.pki.path(certServing+".key"),
		"--client-ca-file=" + c.pki.path(fileCA),
		"--etcd-servers=" + c.etcdURL(), "--etcd-cafile=" + c.pki.path(fileCA),
		"--etcd-certfile=" + c.pki.path(certEtcd+".crt"), "--etcd-keyfile=" + c.pki.path(certEtcd+".key"),
		"--authorization-mode=Node,RBAC", "--anonymous-auth=false",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.pki.path(fileSAKey),
		"--service-account-signing-key-file=" + c.pki.path(fileSAKey),
		"--service-cluster-ip-range=10.0.0.0/24",
		// Without these it looks for a network interface to announce, and a machine may have none.
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--profiling=false",
	}
	if !c.ServiceAccounts {
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	args = append(args, c.APIServerArgs...)
	c.APIServer, err = Start(ctx, Command{
		Name: "kube-apiserver", Path: c.Binaries.KubeAPIServer, Args: args, LogDir: c.logDir(), Ready: ready,
		Grace: 5 * time.Second,
	})
	return err
}

// Start opens the control plane and starts both.
func (c *ControlPlane) Start(ctx context.Context, now time.Time) error {
	if err := c.Open(now); err != nil {
		return err
	}
	if err := c.StartEtcd(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		c.Etcd.Stop()
		return err
	}
	return nil
}

// URL of the kube-apiserver.
func (c *ControlPlane) URL() string { return loopbackURL("https", c.APIPort) }

func (c *ControlPlane) etcdURL() string { return loopbackURL("https", c.EtcdPort) }

func (c *ControlPlane) logDir() string { return cmp.Or(c.Logs, filepath.Join(c.Dir, "log")) }

// httpReady returns a check that GET url, as the owner of the named certificate, answers 200.
func (c *ControlPlane) httpReady(cert, url string) (func(context.Context) error, error) {
	conf, err := c.pki.clientTLS(cert)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Timeout: 5 * time.Second,
		// A connection of its own for each look: an idle one would hold up the server's end.
		Transport: &http.Transport{TLSClientConfig: conf, DisableKeepAlives: true},
	}
	return func(ctx context.Context) error { return getOK(ctx, client, url) }, nil
}

func getOK(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return nil
}

func loopbackURL(scheme string, port int) string {
	return scheme + "://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
