// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"convene.dev/convene/internal/devstack"
)

// ownMake has make run on its own, not as part of the make that runs this launcher.
var ownMake = []string{"MAKEFLAGS=", "MFLAGS=", "MAKELEVEL="}

// hasKubectl reports whether kubectl is there and up to date. It is not after the first start: it takes up to a minute to build,
// and the link does not need it.
func (s *stack) hasKubectl(ctx context.Context) bool {
	question := exec.CommandContext(ctx, "make", "--question", s.binaries.Kubectl)
	question.Dir, question.Env = s.root, append(os.Environ(), ownMake...)
	return question.Run() == nil
}

// buildKubectl has make build kubectl, and says when it is there. The link is opened meanwhile, so every other program comes
// first.
func (s *stack) buildKubectl(ctx context.Context) error {
	began := time.Now()
	build, err := devstack.Start(ctx, devstack.Command{
		Name: "kubectl", Path: "nice", Args: []string{"-n", "19", "make", "--no-print-directory", s.binaries.Kubectl},
		Dir: s.root, Env: ownMake, LogDir: s.logDir(),
	})
	if err != nil {
		return err
	}
	s.kubectl = build
	go func() {
		<-build.Done()
		switch {
		case ctx.Err() != nil:
		case build.Exit() == nil:
			fmt.Fprintf(s.out, "kubectl is there now, after %.0f s.\n", time.Since(began).Seconds())
		default:
			fmt.Fprintf(s.out, "kubectl was not built; `make tools` tries again. %v\n", build.Err())
		}
	}()
	return nil
}
