// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package devstack

import (
	"os/exec"
	"syscall"
)

// spawn starts cmd in a process group of its own. Only Linux can tie its life to this process's.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}
