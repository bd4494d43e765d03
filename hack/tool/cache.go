// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// unused is how long the cache keeps a tool that no clone has taken.
const unused = 90 * 24 * time.Hour

// cacheFolder returns ~/.cache/convene/tools, or its like on this system, where clones of the repository share what they have
// built. It is empty where the user has no cache folder.
func cacheFolder() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "convene", "tools")
}

// cached returns the tool's path in the cache. Everything that the tool is built from is in its hash: the files of the
// module's folder, the flags, the Go version and the architecture. It is empty where nothing can be kept.
func (t tool) cached(ctx context.Context) string {
	if t.cache == "" {
		return ""
	}
	// With -C, Go tells the toolchain that the module asks for.
	env := exec.CommandContext(ctx, "go", "env", "-C", t.module, "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFLAGS")
	toolchain, err := env.Output()
	if err != nil {
		return ""
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s%q %q\n", toolchain, t.pkg, t.ldflags)
	err = filepath.WalkDir(t.module, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%q %q\n", strings.TrimPrefix(path, t.module), content)
		return err
	})
	if err != nil {
		return ""
	}
	return filepath.Join(t.cache, fmt.Sprintf("%x", sum.Sum(nil)[:16]), t.name)
}

// takeFromCache reports whether the tool was in the cache.
func (t tool) takeFromCache(cached, version string) bool {
	if cached == "" || link(cached, t.output) != nil {
		return false
	}
	// The link has the time of the file: make takes the tool for new, and the cache for one that is in use.
	now := time.Now()
	if os.Chtimes(t.output, now, now) != nil {
		return false
	}
	t.say.line("took %s from %s", t.title(version), t.cache)
	return true
}

// keep puts the tool into the cache, and removes tools that nobody uses. Where it fails, the next clone builds.
func (t tool) keep(cached string) {
	if cached == "" || os.MkdirAll(filepath.Dir(cached), 0o755) != nil || link(t.output, cached) != nil {
		return
	}
	tools, _ := filepath.Glob(filepath.Join(t.cache, "*", "*"))
	for _, old := range tools {
		if info, err := os.Stat(old); err == nil && time.Since(info.ModTime()) > unused {
			_ = os.RemoveAll(filepath.Dir(old))
		}
	}
}

// link makes a second name of a file, or a copy where the other name is on another disk.
func link(from, to string) error {
	next := fmt.Sprintf("%s.%d.new", to, os.Getpid())
	if err := os.Link(from, next); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := copyFile(from, next); err != nil {
			return errors.Join(err, os.Remove(next))
		}
	}
	if err := os.Rename(next, to); err != nil {
		return err
	}
	// Where both are names of one file already, Rename leaves both.
	if err := os.Remove(next); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
