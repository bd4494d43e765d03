// SPDX-License-Identifier: Apache-2.0

// Command tool makes one pinned tool: tool NAME MODULE_FOLDER PACKAGE OUTPUT LDFLAGS
//
// It takes the tool that another clone on this machine has built from the same sources (cache.go). Else it takes the binary
// of a release where there is one for this machine, whose checksum is in archives.go. Else it builds the tool from its Go
// module. PREBUILT_FROM is where releases are downloaded from, in place of https://github.com; when it is set and empty,
// everything is built. Only the standard library is used: this runs before anything else.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 5 {
		return errors.New("usage: tool NAME MODULE_FOLDER PACKAGE OUTPUT LDFLAGS")
	}
	t := tool{
		name: args[0], module: args[1], pkg: args[2], output: args[3], ldflags: args[4],
		cache: cacheFolder(), known: published, limits: usual, say: newTeller(os.Stdout),
	}
	from, set := os.LookupEnv("PREBUILT_FROM")
	if !set {
		from = "https://github.com"
	}
	return t.make(ctx, from)
}

// tool is a tool to make.
type tool struct {
	name, module, pkg, output, ldflags string

	// cache is a folder outside the clone, empty for none.
	cache  string
	known  []archive
	limits limits
	say    *teller
}

// make makes the tool: from the cache, a release, PATH, or its sources, in this order.
func (t tool) make(ctx context.Context, from string) error {
	if err := os.MkdirAll(filepath.Dir(t.output), 0o755); err != nil {
		return err
	}
	// make -j wants several tools at once, and make may run twice: in two terminals, or for the kubectl that follows the first start.
	// Tools are made one at a time: Go's builds keep all cores busy, and one archive has several tools.
	unlock, err := lock(ctx, filepath.Join(filepath.Dir(t.output), ".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if t.isFresh() {
		return nil
	}
	version, err := requiredVersion(filepath.Join(t.module, "go.mod"), t.pkg)
	if err != nil {
		return err
	}
	cached := t.cached(ctx)
	if t.takeFromCache(cached, version) {
		return nil
	}
	if from != "" {
		if a, sum := find(t.known, t.name); a != nil && sum != "" {
			err := t.unpack(ctx, from, *a, sum)
			if err == nil || ctx.Err() != nil {
				return err
			}
			t.say.line("%s is built here, because its release cannot be used: %v", t.title(version), err)
		}
	}
	if t.name == "kubectl" && t.takeFromPath(ctx, version) {
		return nil
	}
	if err := t.build(ctx, version); err != nil {
		return err
	}
	t.keep(cached)
	return nil
}

// unpack downloads a release and brings all its tools, so that the next one is there already.
func (t tool) unpack(ctx context.Context, from string, a archive, sum string) error {
	folder := filepath.Dir(t.output)
	began := time.Now()
	name := fmt.Sprintf("%s %s", a.of, a.version)
	fetched, err := t.limits.fetch(ctx, a.url(from), sum, folder, func(done, all int64) {
		t.say.progress("downloading %s: %d of %d MB", name, done>>20, all>>20)
	})
	t.say.clear()
	if err != nil {
		return err
	}
	if err := errors.Join(a.extract(fetched, folder), os.Remove(fetched)); err != nil {
		return err
	}
	for _, binary := range a.binaries {
		if err := runs(ctx, filepath.Join(folder, binary)); err != nil {
			return errors.Join(err, a.remove(folder))
		}
	}
	t.say.line("downloaded %s in %s", name, spoken(time.Since(began)))
	return nil
}

// isFresh reports whether the tool is not older than the files of its module. make asked the same, before the lock was free.
func (t tool) isFresh() bool {
	made, err := os.Stat(t.output)
	if err != nil {
		return false
	}
	files, err := os.ReadDir(t.module)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(files, func(file os.DirEntry) bool {
		pinned, err := file.Info()
		return err != nil || pinned.ModTime().After(made.ModTime())
	})
}

func (t tool) title(version string) string { return strings.TrimSpace(t.name + " " + version) }

// downloading are lines of Go's that tell of no failure.
var downloading = regexp.MustCompile(`(?m)^go: downloading .*\n`)

func (t tool) build(ctx context.Context, version string) error {
	began := time.Now()
	doing := fmt.Sprintf("building %s (once; %s)", t.title(version), usually(t.name))
	t.say.start("%s", doing)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var output bytes.Buffer
	build := exec.CommandContext(ctx, "go", "build", "-C", t.module, "-trimpath", "-ldflags", t.ldflags, "-o", t.output+".new", t.pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = &output, &output
	// Asked to end, Go takes its temporary files away. What it has compiled stays in its cache.
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) }
	build.WaitDelay = 5 * time.Second
	done := make(chan error, 1)
	if err := build.Start(); err != nil {
		return err
	}
	go func() { done <- build.Wait() }()
	for {
		select {
		case <-tick.C:
			t.say.progress("%s: %s so far", doing, spoken(time.Since(began)))
		case err := <-done:
			t.say.clear()
			switch {
			case ctx.Err() != nil:
				return fmt.Errorf("%s: interrupted after %s; the next time, the build goes on from there", t.title(version), spoken(time.Since(began)))
			case err != nil:
				return fmt.Errorf("%s does not build: %w\n%s", t.title(version), err, downloading.ReplaceAll(output.Bytes(), nil))
			}
			t.say.line("built %s in %s", t.title(version), spoken(time.Since(began)))
			return os.Rename(t.output+".new", t.output)
		}
	}
}

// lock waits until no other process has the lock of this file.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		switch err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return func() { file.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			file.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
