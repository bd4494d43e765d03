// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent has the kernel send SIGTERM here when the parent dies, so that killing make ends the stack too.
func endWithParent() error {
	// Settings of prctl belong to a thread. The main one lives as long as the process.
	runtime.LockOSThread()
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0); err != nil {
		return err
	}
	if parent == 1 || os.Getppid() != parent {
		return syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}
	return nil
}
