// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"convene.dev/convene/internal/devstack"
)

// run starts everything, says so, and ends everything when ctx or a child ends.
func run(ctx context.Context, cancel context.CancelCauseFunc, root string, out io.Writer) error {
	binaries, err := devstack.FindBinaries(root)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, ".local")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	held, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer held.Close()
	s := &stack{root: root, dir: dir, binaries: binaries, out: out, cancel: cancel}
	defer s.stop()
	err = s.start(ctx)
	if err == nil {
		<-ctx.Done()
		err = context.Cause(ctx)
	} else if ctx.Err() != nil {
		// The step failed because something else did.
		err = context.Cause(ctx)
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// stack is all that runs.
type stack struct {
	root, dir string
	binaries  devstack.Binaries
	out       io.Writer
	cancel    context.CancelCauseFunc

	state    *state
	ports    map[string]int
	cluster  *devstack.Environment
	admin    *rest.Config
	children []*devstack.Process
	// kubectl is the build of kubectl, nil for none.
	kubectl *devstack.Process
	began   time.Time
}

// start starts the parts in order and returns when all of them are ready and a person has been told.
func (s *stack) start(ctx context.Context) error {
	s.began = time.Now()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"etcd and kube-apiserver", s.startCluster},
		{"LiveKit", s.startLiveKit},
		{"roles", s.applyDefinitions},
		{"sample tenants", s.applyTenants},
		{"manager", s.startManager},
		{"tenants ready", s.awaitTenants},
	}
	for _, step := range steps {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(s.out, "  %-24s %5.1f s\n", step.name, time.Since(began).Seconds())
	}
	hasKubectl := s.hasKubectl(ctx)
	if err := s.welcome(ctx, hasKubectl); err != nil || hasKubectl {
		return err
	}
	return s.buildKubectl(ctx)
}

// prepare settles keys and ports.
func (s *stack) prepare(ctx context.Context) error {
	left := s.envFile()
	if _, err := os.Stat(left); err == nil {
		// The last launcher was killed; its children, which die with it, may need a moment.
		fmt.Fprintln(s.out, "the last run ended without cleaning up; going on from its data")
		if err := os.Remove(left); err != nil {
			return err
		}
	}
	var err error
	if s.state, err = loadState(filepath.Join(s.dir, "state.json")); err != nil {
		return err
	}
	awaitFree(ctx, s.state.Ports)
	if s.ports, err = s.state.pickPorts(s.out); err != nil {
		return err
	}
	return s.state.save()
}

// stop ends all children, the last started first, and takes the announcement back before.
func (s *stack) stop() {
	_ = os.Remove(s.envFile())
	if s.kubectl != nil {
		s.kubectl.Stop()
	}
	if s.cluster == nil {
		return
	}
	fmt.Fprintln(s.out, "\nending:")
	began := time.Now()
	for _, child := range slices.Backward(s.children) {
		child.Stop()
		fmt.Fprintf(s.out, "  %s\n", child.Name())
	}
	if err := s.cluster.Stop(); err != nil {
		fmt.Fprintln(s.out, err)
	}
	fmt.Fprintln(s.out, "  kube-apiserver and etcd")
	fmt.Fprintf(s.out, "ended in %.1f s; meetings and keys are kept in .local/\n", time.Since(began).Seconds())
}

// watch has the whole stack end when the child does.
func (s *stack) watch(p *devstack.Process) {
	s.children = append(s.children, p)
	go func() {
		<-p.Done()
		s.cancel(p.Err())
	}()
}

func (s *stack) logDir() string            { return filepath.Join(s.dir, "log") }
func (s *stack) envFile() string           { return filepath.Join(s.dir, "env") }
func (s *stack) kubeconfig() string        { return filepath.Join(s.dir, "kubeconfig") }
func (s *stack) managerKubeconfig() string { return filepath.Join(s.dir, "manager.kubeconfig") }
