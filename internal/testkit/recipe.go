// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// RecipeOptions of a run.
type RecipeOptions struct {
	// Env are further variables.
	Env []string
	// Fill is what a reader puts in the place of what the document has.
	Fill map[string]string
	// Dir is where it runs; empty means a folder that looks like a clone of the repository.
	Dir string
	// Files are in that folder.
	Files map[string]string
}

// Recipe runs the commands that a document has under a name, as its reader does, in the test's namespace, and returns
// what they print.
func (c *Cluster) Recipe(t testing.TB, name string, o RecipeOptions) string {
	t.Helper()
	// kubectl config writes; commands without a namespace go to the test's.
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content, err := os.ReadFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		t.Fatal(err)
	}
	set := exec.CommandContext(t.Context(), c.kubectl,
		"config", "set-context", "--current", "--namespace", c.Namespace, "--kubeconfig", kubeconfig)
	if out, err := set.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o.Env = append(o.Env, "KUBECONFIG="+kubeconfig)
	return Recipe(t, name, o)
}

// Recipe is Cluster.Recipe for commands that find their cluster themselves.
func Recipe(t testing.TB, name string, o RecipeOptions) string {
	t.Helper()
	commands, ok := Recipes(t)[name]
	if !ok {
		t.Fatalf("no document has a recipe %q", name)
	}
	for text, with := range o.Fill {
		if !strings.Contains(commands, text) {
			t.Fatalf("recipe %s does not have %q:\n%s", name, text, commands)
		}
		commands = strings.ReplaceAll(commands, text, with)
	}
	if o.Dir == "" {
		o.Dir = cloneOf(t)
	}
	for file, content := range o.Files {
		if err := os.WriteFile(filepath.Join(o.Dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := exec.CommandContext(t.Context(), "bash", "-eu", "-o", "pipefail", "-c", commands)
	script.Dir = o.Dir
	path := strings.Join([]string{Assets(t), filepath.Join(Root(t), "bin"), os.Getenv("PATH")}, string(os.PathListSeparator))
	script.Env = append(append(os.Environ(), "PATH="+path, "MAKEFLAGS=", "MAKELEVEL="), o.Env...)
	out, err := script.CombinedOutput()
	if err != nil {
		t.Fatalf("recipe %s: %v\n%s\n%s", name, err, commands, out)
	}
	return string(out)
}

// cloneOf makes a folder with links to all that the repository has, so that what a recipe writes is not written there.
func cloneOf(t testing.TB) string {
	t.Helper()
	root, dir := Root(t), t.TempDir()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if err := os.Symlink(filepath.Join(root, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var recipe = regexp.MustCompile("(?s)<!-- recipe: ([a-z-]+) -->\n```sh\n(.*?)\n```")

// Recipes are the commands that documents have under a name, for a test to run.
func Recipes(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for file, page := range Documents(t) {
		for _, found := range recipe.FindAllStringSubmatch(page, -1) {
			if all[found[1]] != "" {
				t.Fatalf("%s has one more recipe %q", file, found[1])
			}
			all[found[1]] = found[2]
		}
	}
	return all
}

// Documents are all that people read, by their path from the root.
func Documents(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, from := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "config"} {
		maps.Copy(all, documents(t, from))
	}
	return all
}

func documents(t testing.TB, from string) map[string]string {
	t.Helper()
	root, all := Root(t), map[string]string{}
	err := filepath.WalkDir(filepath.Join(root, from), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
