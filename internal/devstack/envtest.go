// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// stopTimeout is how long etcd and kube-apiserver each may take to end before they are killed.
const stopTimeout = 10 * time.Second

// Environment is envtest's, with three differences: etcd and kube-apiserver can be killed and started again with their data, on Linux
// they end with this process, however this process ends, and etcd serves the user of this process alone.
type Environment struct {
	envtest.Environment

	etcd, apiServer program
}

// etcdSocket is the address of etcd, in the folder of the wrappers: other users of the machine can reach ports, and envtest's etcd does
// not ask who its clients are.
const etcdSocket = "unix://etcd.socket"

// NewEnvironment returns an environment that keeps its data, certificates and logs in dir. On 127.0.0.1, kube-apiserver will be at
// port, and etcd will answer questions about its health at etcdHealth. The environment can be changed before it starts.
func NewEnvironment(b Binaries, dir string, etcdHealth, port int) (*Environment, error) {
	e := &Environment{etcd: newProgram(b.Etcd, dir), apiServer: newProgram(b.KubeAPIServer, dir)}
	etcdLog, err := e.etcd.prepare()
	if err != nil {
		return nil, err
	}
	apiServerLog, err := e.apiServer.prepare()
	if err != nil {
		return nil, err
	}

	// With $USE_EXISTING_CLUSTER envtest would take the user's cluster.
	e.UseExistingCluster = new(false)
	e.ControlPlaneStartTimeout, e.ControlPlaneStopTimeout = readyTimeout, stopTimeout

	etcd := &envtest.Etcd{Path: e.etcd.wrapper, DataDir: filepath.Join(dir, "etcd"), Out: etcdLog, Err: etcdLog}
	etcd.URL = &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(etcdHealth))}
	etcd.Configure().Set("log-level", "warn").Set("listen-metrics-urls", etcd.URL.String()).
		Set("listen-client-urls", etcdSocket).Set("advertise-client-urls", etcdSocket).Set("listen-peer-urls", "unix://etcd-peer.socket")
	e.ControlPlane.Etcd = etcd

	s := e.ControlPlane.GetAPIServer()
	s.Path, s.CertDir, s.Out, s.Err = e.apiServer.wrapper, filepath.Join(dir, "pki"), apiServerLog, apiServerLog
	s.Address, s.Port = "127.0.0.1", strconv.Itoa(port)
	// Without these kube-apiserver looks for a network interface to announce, and a machine may have none.
	s.Configure().Set("etcd-servers", etcdSocket).Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none")

	return e, errors.Join(
		os.MkdirAll(etcd.DataDir, 0o700),
		// envtest cannot load certificates of an earlier run.
		os.RemoveAll(s.CertDir), os.MkdirAll(s.CertDir, 0o700),
	)
}

// Start starts etcd and kube-apiserver, and installs the CRDs of the environment.
func (e *Environment) Start() (config *rest.Config, err error) {
	err = onLastingThread(func() (err error) {
		config, err = e.Environment.Start()
		return err
	})
	if err != nil {
		err = fmt.Errorf("%w; the end of their logs:\n%s\n%s", err, tail(e.etcd.log), tail(e.apiServer.log))
	}
	return config, err
}

// KillEtcd kills etcd without warning. StartEtcd starts it again on the same port and data.
func (e *Environment) KillEtcd() error { return e.etcd.kill() }

// StartEtcd starts etcd after KillEtcd.
func (e *Environment) StartEtcd() error { return onLastingThread(e.ControlPlane.Etcd.Start) }

// KillAPIServer kills kube-apiserver without warning. StartAPIServer starts it again on the same port.
func (e *Environment) KillAPIServer() error { return e.apiServer.kill() }

// StartAPIServer starts kube-apiserver after KillAPIServer.
func (e *Environment) StartAPIServer() error { return onLastingThread(e.ControlPlane.APIServer.Start) }

// Ended returns nil while etcd and kube-apiserver run, and otherwise an error that names the one that has ended and has the end of its log.
func (e *Environment) Ended() error {
	for _, p := range []program{e.etcd, e.apiServer} {
		if pid, err := p.pid(); err != nil || syscall.Kill(pid, 0) != nil {
			return fmt.Errorf("%s ended; the end of %s:\n%s", filepath.Base(p.path), p.log, tail(p.log))
		}
	}
	return nil
}

// APIServerLog returns the last lines that kube-apiserver has written.
func (e *Environment) APIServerLog() string { return tail(e.apiServer.log) }

// program runs by a wrapper, a script that envtest starts. The script writes the process ID down, and the program ends with the
// thread that started the script.
type program struct {
	path, wrapper, log string
}

func newProgram(path, dir string) program {
	name := filepath.Base(path)
	return program{path: path, wrapper: filepath.Join(dir, "run", name), log: filepath.Join(dir, "log", name+".log")}
}

func (p program) pidFile() string { return p.wrapper + ".pid" }

func (p program) pid() (int, error) {
	content, err := os.ReadFile(p.pidFile())
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(content)))
}

// prepare makes the wrapper and an empty log.
func (p program) prepare() (*os.File, error) {
	command := quote(p.path)
	// Of util-linux, which every Linux has.
	if setpriv, err := exec.LookPath("setpriv"); err == nil {
		command = quote(setpriv) + " --pdeathsig KILL " + command
	}
	script := "#!/bin/sh\ncd " + quote(filepath.Dir(p.wrapper)) + "\necho $$ >" + quote(p.pidFile()) + "\nexec " + command + " \"$@\"\n"
	err := errors.Join(os.MkdirAll(filepath.Dir(p.wrapper), 0o700), os.WriteFile(p.wrapper, []byte(script), 0o700))
	if err != nil {
		return nil, err
	}
	return openLog(filepath.Dir(p.log), filepath.Base(p.wrapper))
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// kill does nothing when the program was killed already. It returns when the process has been waited for, so that its port is free.
func (p program) kill() error {
	pid, err := p.pid()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(stopTimeout); ; time.Sleep(readyPoll) {
		switch err := syscall.Kill(pid, syscall.SIGKILL); {
		case errors.Is(err, syscall.ESRCH):
			return os.Remove(p.pidFile())
		case err != nil:
			return fmt.Errorf("kill %s: %w", filepath.Base(p.path), err)
		case time.Now().After(deadline):
			return fmt.Errorf("%s was killed and is still there", filepath.Base(p.path))
		}
	}
}

// onLastingThread calls start on a thread that is never given back: the kernel ties the death signal of a child to the thread that
// forked the child.
func onLastingThread(start func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- start()
		select {}
	}()
	return <-done
}
