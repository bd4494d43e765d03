// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

var (
	spawnOnce  sync.Once
	spawnQueue chan func()
)

// spawn starts cmd in a process group of its own, to be killed by the kernel when this process dies.
//
// The kernel ties that death signal to the thread that forked, not to the process, and Go ends threads as it likes.
// So every child is forked on one thread that is never given back.
func spawn(cmd *exec.Cmd) error {
	spawnOnce.Do(func() {
		spawnQueue = make(chan func())
		go func() {
			runtime.LockOSThread()
			for start := range spawnQueue {
				start()
			}
		}()
	})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done := make(chan error, 1)
	spawnQueue <- func() { done <- cmd.Start() }
	return <-done
}
