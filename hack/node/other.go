// SPDX-License-Identifier: Apache-2.0

//go:build !linux

// Command node starts a whole Kubernetes node. That takes Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "this machine cannot run a Kubernetes node: it takes Linux")
	os.Exit(77)
}
