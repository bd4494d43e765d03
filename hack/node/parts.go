// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startControlPlane starts etcd, the API server, and the controllers and the scheduler that pods need.
func (n *node) startControlPlane(ctx context.Context) error {
	admin := user{File: "admin", Name: "admin", Groups: []string{"system:masters"}}
	kubelet := user{File: "kubelet", Name: "system:node:" + n.Name, Groups: []string{"system:nodes"}, Hosts: []string{n.Name, n.Address}}
	clients := []user{admin, kubelet}
	for _, part := range []string{"kube-controller-manager", "kube-scheduler", "kube-proxy"} {
		clients = append(clients, user{File: part, Name: "system:" + part})
	}
	server := user{File: "kube-apiserver", Name: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"},
		Hosts: []string{"127.0.0.1", n.Address, n.API, "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}}
	if err := n.issueAll(append(clients, server)); err != nil {
		return err
	}
	for _, client := range clients {
		if err := n.writeKubeconfig(client); err != nil {
			return err
		}
	}
	if err := n.startEtcd(ctx); err != nil {
		return err
	}
	if err := n.startAPIServer(ctx, server); err != nil {
		return err
	}
	return errors.Join(
		n.startController(ctx, "kube-controller-manager", "--service-account-private-key-file="+n.serviceAccountKey(),
			"--root-ca-file="+n.key("ca", "crt"), "--use-service-account-credentials=true"),
		n.startController(ctx, "kube-scheduler"),
	)
}

// etcdURL is reached by this node alone, which has a network of its own; etcd does not ask who its clients are.
const etcdURL = "http://127.0.0.1:2379"

func (n *node) startEtcd(ctx context.Context) error {
	return n.start(ctx, "etcd", healthy(etcdURL+"/readyz"), "--data-dir="+filepath.Join(n.Dir, "etcd"), "--log-level=warn", "--unsafe-no-fsync",
		"--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL)
}

func (n *node) startAPIServer(ctx context.Context, server user) error {
	ready := func(ctx context.Context) error { return n.kubectl(ctx, "get", "--raw=/readyz") }
	return n.start(ctx, "kube-apiserver", ready,
		"--etcd-servers="+etcdURL, "--cert-dir="+n.PKI(), "--bind-address=0.0.0.0", "--advertise-address="+n.Address,
		"--tls-cert-file="+n.key(server.File, "crt"), "--tls-private-key-file="+n.key(server.File, "key"), "--client-ca-file="+n.key("ca", "crt"),
		"--authorization-mode=Node,RBAC", "--anonymous-auth=false", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range="+n.Services,
		"--service-account-key-file="+n.serviceAccountKey(), "--service-account-signing-key-file="+n.serviceAccountKey(),
		"--kubelet-client-certificate="+n.key(server.File, "crt"), "--kubelet-client-key="+n.key(server.File, "key"),
		"--kubelet-certificate-authority="+n.key("ca", "crt"), "--kubelet-preferred-address-types=InternalIP",
	)
}

// key is the file of a certificate or key.
func (n *node) key(name, kind string) string { return filepath.Join(n.PKI(), name+"."+kind) }

func (n *node) serviceAccountKey() string { return n.key("service-account", "key") }

func (n *node) startController(ctx context.Context, name string, args ...string) error {
	kubeconfig := n.config(name + ".kubeconfig")
	args = append(args, "--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--leader-elect=false", "--bind-address=127.0.0.1")
	return n.start(ctx, name, nil, args...)
}

// startRuntime starts containerd and gives it the images.
func (n *node) startRuntime(ctx context.Context) error {
	const socket = "/run/containerd/containerd.sock"
	ready := func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err == nil {
			_ = connection.Close()
		}
		return err
	}
	if err := n.start(ctx, "containerd", ready, "--config="+n.config("containerd.toml")); err != nil {
		return err
	}
	images, err := filepath.Glob(filepath.Join(n.Images, "*", "index.json"))
	if err != nil {
		return err
	}
	for _, index := range images {
		if err := n.importImage(ctx, filepath.Dir(index)); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) importImage(ctx context.Context, layout string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(n.Bin, "ctr"), "--namespace=k8s.io", "images", "import", "--digests=false", "-")
	read, write := io.Pipe()
	go func() {
		archive := tar.NewWriter(write)
		write.CloseWithError(errors.Join(archive.AddFS(os.DirFS(layout)), archive.Close()))
	}()
	cmd.Stdin = read
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import %s: %w: %s", layout, err, out)
	}
	return nil
}

// startKubelet starts kubelet and kube-proxy, and waits for the node to be Ready.
func (n *node) startKubelet(ctx context.Context) error {
	err := errors.Join(
		n.start(ctx, "kubelet", healthy("http://127.0.0.1:10248/healthz"), "--config="+n.config("kubelet.yaml"),
			"--kubeconfig="+n.config("kubelet.kubeconfig"), "--root-dir="+filepath.Join(n.Dir, "kubelet"),
			"--hostname-override="+n.Name, "--node-ip="+n.Address, "--v=2"),
		n.start(ctx, "kube-proxy", nil, "--config="+n.config("kube-proxy.yaml")),
	)
	if err != nil {
		return err
	}
	return errors.Join(
		n.kubectl(ctx, "wait", "--for=create", "node/"+n.Name, "--timeout=60s"),
		n.kubectl(ctx, "wait", "--for=condition=Ready", "node/"+n.Name, "--timeout=60s"),
	)
}

// startServices starts what enforces NetworkPolicies, and DNS.
func (n *node) startServices(ctx context.Context) error {
	enforced := filepath.Join(n.Dir, "policies-enforced")
	ready := func(context.Context) error { _, err := os.Stat(enforced); return err }
	if err := n.start(ctx, "network-policies", ready, "--kubeconfig="+n.adminConfig(), "--node="+n.Name, "--pods="+n.PodGateway,
		"--ready-file="+enforced); err != nil {
		return err
	}
	return errors.Join(
		n.kubectl(ctx, "apply", "-f", n.config("cluster.yaml")),
		n.kubectl(ctx, "--namespace=kube-system", "rollout", "status", "deployment/coredns", "--timeout=60s"),
	)
}

func healthy(url string) func(context.Context) error {
	client := &http.Client{Timeout: 5 * time.Second}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s", url, response.Status)
		}
		return nil
	}
}
