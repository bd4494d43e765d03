// SPDX-License-Identifier: Apache-2.0

// Command mutants takes one guard at a time out of the code, without touching the tree, and runs the test that must turn red
// then. A test that stays green proves nothing of its guard.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"convene.dev/convene/internal/devstack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	survived, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if err != nil || survived > 0 {
		os.Exit(1)
	}
}

// run tries the mutants whose guard, file or test holds one of the words, or all.
func run(ctx context.Context, words []string) (survived int, err error) {
	root, err := devstack.ModuleRoot(".")
	if err != nil {
		return 0, err
	}
	all, err := mutants()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "convene-mutants-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tried := 0
	for _, m := range all {
		if !m.matches(words) {
			continue
		}
		if ctx.Err() != nil {
			return survived, ctx.Err()
		}
		began := time.Now()
		verdict := "red"
		if err := m.try(ctx, root, dir); err != nil {
			survived++
			verdict = "FAIL: " + err.Error()
		}
		tried++
		fmt.Printf("%-86s %-62s %3.0f s  %s\n", m.Guard, m.Test, time.Since(began).Seconds(), verdict)
	}
	fmt.Printf("\n%d guards taken away, %d tests turned red\n", tried, tried-survived)
	return survived, nil
}

func (m mutant) matches(words []string) bool {
	for _, word := range words {
		if strings.Contains(m.Guard+" "+m.File+" "+m.Test, word) {
			return true
		}
	}
	return len(words) == 0
}

// try returns nil when the test turns red.
func (m mutant) try(ctx context.Context, root, dir string) error {
	mutated, err := m.mutated(root)
	if err != nil {
		return err
	}
	file, overlay := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, m.File): file}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, []byte(mutated), 0o600), os.WriteFile(overlay, replaced, 0o600)); err != nil {
		return err
	}
	test := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-timeout", "5m", "-v", "-tags", "slow",
		"-run", "^"+m.name()+"$", "./"+m.pkg())
	test.Dir = root
	test.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay) // Tests that run a manager build it.
	out, err := test.CombinedOutput()
	switch text := string(out); {
	case err == nil:
		return errors.New("the test stays green")
	case !strings.Contains(text, "--- FAIL: "+m.name()):
		return fmt.Errorf("the test did not run: %s", text)
	}
	return nil
}
