// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// errUnfit is what a machine lacks that cannot run a node.
var errUnfit = errors.New("this machine cannot run a Kubernetes node")

// ownNamespaces are those that a node has for itself: its mounts, processes, network and host name.
const ownNamespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS

// programs come from Debian's packages.
var programs = map[string]string{"ip": "iproute2", "iptables": "iptables", "nft": "nftables", "runc": "runc"}

// checkMachine says what this machine lacks.
func checkMachine() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: it takes root; run it with sudo, or in a container with --privileged", errUnfit)
	}
	probe := exec.Command("/bin/true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: ownNamespaces}
	if err := probe.Run(); err != nil {
		return fmt.Errorf("%w: it takes the capability CAP_SYS_ADMIN, for namespaces: %w", errUnfit, err)
	}
	for program, pack := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: %s is missing; run: apt-get install %s", errUnfit, program, pack)
		}
	}
	const name = "convene-node-probe"
	if err := errors.Join(makeCgroups(name), removeCgroups(name)); err != nil {
		return fmt.Errorf("%w: it takes cgroups that can be written to: %w", errUnfit, err)
	}
	return nil
}

const cgroupRoot = "/sys/fs/cgroup"

// hierarchies are the folders that have a folder for each cgroup: one with version 2, one for each controller with version 1.
func hierarchies() ([]string, error) {
	if _, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers")); err == nil {
		return []string{cgroupRoot}, nil
	}
	all, err := filepath.Glob(filepath.Join(cgroupRoot, "*", "cgroup.procs"))
	if err == nil && len(all) == 0 {
		err = errors.New("none are mounted at " + cgroupRoot)
	}
	for i := range all {
		all[i] = filepath.Dir(all[i])
	}
	return all, err
}

// makeCgroups makes the cgroup under which all pods of the node are.
func makeCgroups(name string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range all {
		if err := os.MkdirAll(filepath.Join(hierarchy, name), 0o755); err != nil {
			return err
		}
		// With version 1 a new cgroup has no processors and no memory, and its children get none.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			value, err := os.ReadFile(filepath.Join(hierarchy, file))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err := errors.Join(err, os.WriteFile(filepath.Join(hierarchy, name, file), value, 0o600)); err != nil {
				return err
			}
		}
		if hierarchy == cgroupRoot {
			if err := os.WriteFile(filepath.Join(hierarchy, "cgroup.subtree_control"), []byte("+cpu +cpuset +memory +pids"), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeCgroups removes the cgroup and all below it. The kernel may still be at the processes that were in them.
func removeCgroups(name string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range all {
		for tries := 0; ; tries++ {
			err := removeCgroup(filepath.Join(hierarchy, name))
			if err == nil {
				break
			}
			if tries == 100 {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

// removeCgroup removes the folders from the innermost out: their files are no files.
func removeCgroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			err = errors.Join(err, removeCgroup(filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(err, syscall.Rmdir(dir))
}
