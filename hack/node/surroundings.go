// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// settings are what the kubelet wants of the whole machine. The node sees files of its own in their place, so that the
// machine's settings stay as they are.
var settings = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}

// ownSettings belong to the network, which is the node's own.
var ownSettings = map[string]string{"net/ipv4/ip_forward": "1", "net/bridge/bridge-nf-call-iptables": "1"}

// mount gives the node its own view of the machine.
func (n *node) mount(context.Context) error {
	if err := syscall.Sethostname([]byte(n.Name)); err != nil {
		return err
	}
	logs := filepath.Join(n.Dir, "var-log")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	err := errors.Join(
		// First nothing of what follows is passed on to the machine, then volumes are passed on to containers.
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""),
		syscall.Mount("proc", "/proc", "proc", 0, ""),
		syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"),
		// The kubelet knows no other place for containers' logs.
		bind(logs, "/var/log"),
		bind(n.config("hosts"), "/etc/hosts"),
	)
	for name, value := range settings {
		file := filepath.Join(n.Dir, strings.ReplaceAll(name, "/", "."))
		err = errors.Join(err, os.WriteFile(file, []byte(value+"\n"), 0o600), bind(file, filepath.Join("/proc/sys", name)))
	}
	return err
}

func bind(from, to string) error {
	if err := syscall.Mount(from, to, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s over %s: %w", from, to, err)
	}
	return nil
}

// network gives the node an address and a default route, which lead nowhere: without them kubelet and API server do not
// know which address is theirs. A pair of virtual cables, because small kernels have no dummy interface.
func (n *node) network(ctx context.Context) error {
	for _, args := range []string{
		"link set lo up",
		"link add node0 type veth peer name node0p",
		"addr add " + n.Address + "/24 dev node0",
		"link set node0 up",
		"link set node0p up",
		"route add default via " + n.Gateway + " dev node0",
	} {
		if err := run(ctx, "ip", strings.Fields(args)...); err != nil {
			return err
		}
	}
	for name, value := range ownSettings {
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0o600); err != nil {
			return err
		}
	}
	return nil
}
