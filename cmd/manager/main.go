// SPDX-License-Identifier: Apache-2.0

// Command manager is Convene: the controllers and the gateway in one binary.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"convene.dev/convene/internal/source/sandbox"
)

// Set by the linker.
var (
	version = "dev"
	commit  = "unknown"
)

func main() {
	// A config.js is evaluated in a process of its own, which is this same program.
	if sandbox.Requested(os.Args) {
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Getenv, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}
