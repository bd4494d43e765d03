// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
)

var (
	// marked is a block of commands with the line before it.
	marked = regexp.MustCompile("(?ms)^([^\n]*)\n```sh\n(.*?)^```$")
	// mark says who runs the commands: a test by their name, nobody because of what they need, or they are make targets.
	mark     = regexp.MustCompile(`^<!-- (?:recipe: ([a-z-]+)|needs: [^>]+|(make)) -->$`)
	makeCall = regexp.MustCompile(`(?m)(?:^|[;&|] *)make ([^#\n]*)`)
	target   = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	calls    = regexp.MustCompile(`[rR]ecipe\(t, "([a-z-]+)"`)
)

// TestEveryCommandIsRun: each block of commands in the documents is run by a test, or says what it needs that is not
// here. The targets of make are there in any case. A recipe that only a slow test runs counts: it is run every night.
func TestEveryCommandIsRun(t *testing.T) {
	run, targets := recipesRun(t), targets(t)
	blocks := 0
	for file, page := range testkit.Documents(t) {
		for _, block := range marked.FindAllStringSubmatch(page, -1) {
			blocks++
			commands := block[2]
			said := mark.FindStringSubmatch(block[1])
			switch {
			case said == nil:
				t.Errorf("%s: nothing says who runs\n%s", file, commands)
			case said[1] != "" && !run[said[1]]:
				t.Errorf("%s: no test runs the recipe %s", file, said[1])
			case said[2] != "" && len(makeCall.FindAllString(commands, -1)) != strings.Count(commands, "\n"):
				t.Errorf("%s: more than calls of make in\n%s", file, commands)
			}
			for _, call := range makeCall.FindAllStringSubmatch(commands, -1) {
				for word := range strings.FieldsSeq(call[1]) {
					if !strings.Contains(word, "=") && !slices.Contains(targets, word) {
						t.Errorf("%s: there is no make target %s", file, word)
					}
				}
			}
		}
	}
	if blocks < 20 {
		t.Errorf("only %d blocks of commands were found", blocks)
	}
}

// recipesRun are the recipes that tests name.
func recipesRun(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	eachFile(t, func(path, content string) {
		if strings.HasSuffix(path, "_test.go") {
			for _, call := range calls.FindAllStringSubmatch(content, -1) {
				all[call[1]] = true
			}
		}
	}, "internal", "hack", "controllers", "cmd")
	return all
}

func targets(t *testing.T) (all []string) {
	t.Helper()
	eachFile(t, func(path, content string) {
		if filepath.Ext(path) == ".mk" || filepath.Base(path) == "Makefile" {
			for _, found := range target.FindAllStringSubmatch(content, -1) {
				all = append(all, found[1])
			}
		}
	}, "Makefile", "hack")
	return all
}

func eachFile(t *testing.T, look func(path, content string), folders ...string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(testkit.Root(t), folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				if entry != nil && entry.Name() == "node_modules" {
					return fs.SkipDir
				}
				return err
			}
			content, err := os.ReadFile(path)
			look(path, string(content))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
