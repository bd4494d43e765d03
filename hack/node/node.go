// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/devstack"
)

// node is a Kubernetes node. The templates in config/ use its fields.
type node struct {
	// Dir is everything that it writes, and is removed with it. Logs is beside it, and stays.
	Dir, Logs string
	// Bin has the programs, Images the OCI layouts.
	Bin, Images string
	// Cgroup is above those of all pods.
	Cgroup string
	// Name and Address of the node, Gateway of the network that it takes itself to be in.
	Name, Address, Gateway string
	// Pods is the network of the pods, PodGateway the node in it. Services is the network of the Services, DNS and API two
	// of them.
	Pods, PodGateway, Services, DNS, API string

	began time.Time
}

func newNode(root, images string) *node {
	dir := filepath.Join(root, ".local", "node", "state")
	return &node{
		Dir: dir, Logs: filepath.Join(root, ".local", "node", "log"), Bin: filepath.Join(root, "bin"), Images: images,
		// Two clones may each have a node.
		Cgroup: fmt.Sprintf("convene-node-%08x", crc32.ChecksumIEEE([]byte(dir))),
		Name:   "node1", Address: "192.168.77.2", Gateway: "192.168.77.1",
		Pods: "10.244.0.0/24", PodGateway: "10.244.0.1/24", Services: "10.96.0.0/16", DNS: "10.96.0.10", API: "10.96.0.1",
		began: time.Now(),
	}
}

// PKI is the folder of the certificates.
func (n *node) PKI() string { return filepath.Join(n.Dir, "pki") }

// run starts the node in the namespaces that this process is in, and then the command.
func (n *node) run(command []string) error {
	ctx := context.Background()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"its configuration", n.configure},
		{"its own view of the machine", n.mount},
		{"its network", n.network},
		{"the container runtime with its images, and the control plane", n.startBases},
		{"the kubelet, until the node is Ready", n.startKubelet},
		{"network policies and DNS", n.startServices},
	} {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		n.say(step.name)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+n.adminConfig(), "PATH="+n.Bin+":"+os.Getenv("PATH"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// startBases starts what does not need each other at the same time.
func (n *node) startBases(ctx context.Context) error {
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return n.startRuntime(ctx) })
	both.Go(func() error { return n.startControlPlane(ctx) })
	return both.Wait()
}

func (n *node) say(what string) { fmt.Printf("    %4.1f s  %s\n", time.Since(n.began).Seconds(), what) }

//go:embed config
var templates embed.FS

// configure writes what config/ says, for this node.
func (n *node) configure(context.Context) error {
	return fs.WalkDir(templates, "config", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(n.Dir, path)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		content, err := template.ParseFS(templates, path)
		if err != nil {
			return err
		}
		f, err := os.Create(to)
		if err != nil {
			return err
		}
		return errors.Join(content.Execute(f, n), f.Close())
	})
}

func (n *node) config(name string) string { return filepath.Join(n.Dir, "config", name) }

func (n *node) adminConfig() string { return n.config("admin.kubeconfig") }

// start starts a part of the node. It ends with this process.
func (n *node) start(ctx context.Context, name string, ready func(context.Context) error, args ...string) error {
	_, err := devstack.Start(ctx, devstack.Command{
		Name: name, Path: filepath.Join(n.Bin, name), Args: args, LogDir: n.Logs, Ready: ready,
		Env: []string{"PATH=" + n.Bin + ":" + os.Getenv("PATH")},
	})
	return err
}

// kubectl runs it as the cluster's administrator.
func (n *node) kubectl(ctx context.Context, args ...string) error {
	return run(ctx, filepath.Join(n.Bin, "kubectl"), append([]string{"--kubeconfig", n.adminConfig()}, args...)...)
}

func run(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return nil
}
