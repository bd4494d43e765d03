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
)

// Set by the linker.
var (
	version = "dev"
	commit  = "unknown"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Getenv, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}
