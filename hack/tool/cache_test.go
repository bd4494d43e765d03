// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestClonesShareTools: a second clone takes the tool from the cache, and builds where anything differs that the tool is built from.
func TestClonesShareTools(t *testing.T) {
	cache := t.TempDir()
	clone := func(change func(*tool)) (says, told string) {
		t.Helper()
		tl, _ := newTool(t, "")
		tl.cache = cache
		change(&tl)
		if err := tl.make(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if !tl.isFresh() {
			t.Error("make would make it again")
		}
		return tl.outcome(t)
	}
	same := func(*tool) {}
	if says, told := clone(same); says != "built" || !strings.Contains(told, "built one in") {
		t.Errorf("the first clone says %q, and was told %q", says, told)
	}
	kept, err := filepath.Glob(filepath.Join(cache, "*", "one"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %q, %v", kept, err)
	}
	lastWeek := time.Now().Add(-7 * 24 * time.Hour)
	if err := os.Chtimes(kept[0], lastWeek, lastWeek); err != nil {
		t.Fatal(err)
	}
	if says, told := clone(same); says != "built" || told != "took one from "+cache+"\n" {
		t.Errorf("the second clone says %q, and was told %q", says, told)
	}
	// The clone that has the tool already takes it again when the module's files are new, as after a checkout.
	clone(func(tl *tool) {
		if err := tl.make(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chtimes(tl.output, lastWeek, lastWeek), os.Chtimes(kept[0], lastWeek, lastWeek)); err != nil {
			t.Fatal(err)
		}
	})
	if info, err := os.Stat(kept[0]); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("the cache does not know that the tool is in use: %v", err)
	}
	write := func(name, text string) func(*tool) {
		return func(tl *tool) {
			if err := os.WriteFile(filepath.Join(tl.module, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, other := range []struct {
		name   string
		change func(*tool)
	}{
		{"go.mod", write("go.mod", "module example.com/two\n\ngo 1.26\n")},
		{"go.sum", write("go.sum", "example.com/a v1.0.0 h1:AAAA\n")},
		{"sources", write("more.go", "package main\n")},
		{"flags", func(tl *tool) { tl.ldflags = "-s -X main.word=built" }},
		{"GOFLAGS", func(*tool) { t.Setenv("GOFLAGS", "-trimpath -tags=some") }},
	} {
		if says, told := clone(other.change); says != "built" || !strings.Contains(told, "built one in") {
			t.Errorf("with other %s it says %q, and was told %q", other.name, says, told)
		}
	}
	// Nobody has used the first one for long. What is built next clears up.
	longAgo := time.Now().Add(-unused - time.Hour)
	if err := os.Chtimes(kept[0], longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	clone(write("last.go", "package main\n"))
	if _, err := os.Stat(kept[0]); err == nil {
		t.Error("a tool that nobody uses is still kept")
	}
}

func TestToolIsBuiltWithoutCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cache := range map[string]string{"none": "", "no folder": filepath.Join(file, "tools")} {
		tl, _ := newTool(t, "")
		tl.cache = cache
		if err := tl.make(t.Context(), ""); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if says, _ := tl.outcome(t); says != "built" {
			t.Errorf("%s: it says %q", name, says)
		}
	}
}
