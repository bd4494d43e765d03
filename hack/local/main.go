// SPDX-License-Identifier: Apache-2.0

// Command local runs all of Convene on this machine: etcd, kube-apiserver, LiveKit and the manager, with two sample
// tenants. `make run` builds what it needs and starts it. Everything that it writes is under .local/.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"convene.dev/convene/internal/devstack"
)

// errStopped is why the stack ends when a person asked for it.
var errStopped = errors.New("stopped")

func main() {
	withParent := flag.Bool("end-with-parent", false, "end when the process that started this one has ended")
	flag.Parse()
	if *withParent {
		if err := endWithParent(); err != nil {
			fail(err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		// A second Ctrl-C ends this process at once, and with it all that it started.
		signal.Reset()
		cancel(errStopped)
	}()
	root, err := devstack.ModuleRoot(".")
	if err != nil {
		fail(err)
	}
	if err := run(ctx, cancel, root, os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "\n"+err.Error())
	os.Exit(1)
}
