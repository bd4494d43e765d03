// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command node starts a whole Kubernetes node, with its control plane, in namespaces of its own, runs a command in them
// and takes everything away again. It needs root, and programs that make builds (`make test-node`):
//
//	bin/node [-images FOLDER] COMMAND...
//
// The command finds the cluster through KUBECONFIG. `bin/node bash` is a shell on the node.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"convene.dev/convene/internal/devstack"
)

// exitUnfit is the status where this machine cannot run a node.
const exitUnfit = 77

// The first argument of the processes that this program starts from itself.
const (
	stageInit = "init" // PID 1 of the node
	stageRun  = "run"  // starts the node's parts
)

// The death signal that each stage asks for belongs to the thread that started it: it must be the one that stays.
func init() { runtime.LockOSThread() }

func main() {
	if len(os.Args) > 1 && os.Args[1] == stageInit {
		os.Exit(reap(os.Args[2:]))
	}
	stage := "outside"
	args := os.Args[1:]
	if len(args) > 0 && args[0] == stageRun {
		stage, args = stageRun, args[1:]
	}
	flags := flag.NewFlagSet("node", flag.ExitOnError)
	images := flags.String("images", "", "folder of OCI layouts, one of each image that the node is given")
	check := flags.Bool("check", false, "only say whether this machine can run a node")
	_ = flags.Parse(args)
	if *check {
		if err := checkMachine(); err != nil {
			fail(err)
		}
		return
	}
	root, err := devstack.ModuleRoot(".")
	if err != nil {
		fail(err)
	}
	n := newNode(root, *images)
	if stage == stageRun {
		err = n.run(flags.Args())
	} else {
		err = n.outside(args, flags.NArg())
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(max(exit.ExitCode(), 1))
	case errors.Is(err, errUnfit):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitUnfit)
	default:
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
}

// outside checks the machine, gives the node its cgroups and namespaces, and cleans up when it has ended.
func (n *node) outside(args []string, words int) error {
	if err := checkMachine(); err != nil {
		return err
	}
	if words == 0 {
		return errors.New("name a command to run on the node, for example: bin/node bash")
	}
	if err := os.MkdirAll(filepath.Dir(n.Dir), 0o755); err != nil {
		return err
	}
	lock, err := lock(n.Dir + ".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	// What a node left behind that was killed together with this program.
	if err := n.clean(); err != nil {
		return err
	}
	if err := makeCgroups(n.Cgroup); err != nil {
		return errors.Join(err, n.clean())
	}
	return errors.Join(inNamespaces(args), n.clean())
}

// clean removes what the kernel does not take away with the namespaces. The logs stay.
func (n *node) clean() error {
	return errors.Join(removeCgroups(n.Cgroup), os.RemoveAll(n.Dir))
}

// inNamespaces runs this program as PID 1 of new namespaces. When it ends, or this process does, however that comes, the
// kernel ends all that runs in them, and their mounts, addresses and rules go.
func inNamespaces(args []string) error {
	cmd := exec.Command("/proc/self/exe", append([]string{stageInit}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: ownNamespaces, Pdeathsig: syscall.SIGKILL}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process in namespaces of its own: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case s := <-signals:
		_ = cmd.Process.Kill()
		<-ended //nolint:errcheck // the signal is why it ended
		return fmt.Errorf("stopped by %s", s)
	}
}

// reap is PID 1 of the node: it starts the next stage, and takes the exit status of all that is left to it until that ends.
func reap(args []string) int {
	child, err := os.StartProcess("/proc/self/exe", append([]string{os.Args[0], stageRun}, args...), &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		return 1
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 1
		case pid == child.Pid && status.Exited():
			return status.ExitStatus()
		case pid == child.Pid:
			return 1
		}
	}
}

// lock makes this the only node of the clone until the process ends, however it ends.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("another node of this clone is running (it holds %s): wait for it or end it", path)
	}
	return f, nil
}
