// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeAll(t *testing.T, files map[string]string) {
	t.Helper()
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoticesOfPackages: of what is shipped, and a package without a text is an error and not left out.
func TestNoticesOfPackages(t *testing.T) {
	t.Chdir(t.TempDir())
	const ui = "internal/web/ui"
	lock := `{"lockfileVersion": 3, "packages": {"": {},
		"node_modules/a": {"version": "1.0.0"}, "node_modules/a/node_modules/@b/c": {"version": "2.0.0"},
		"node_modules/@bufbuild/protobuf": {"version": "1.10.1"},
		"node_modules/vite": {"version": "8.0.0", "dev": true}, "node_modules/linter": {"version": "3.0.0", "dev": true}}}`
	writeAll(t, map[string]string{
		"LICENSE": "Apache", ui + "/package.json": "{}", ui + "/package-lock.json": lock,
		ui + "/node_modules/a/package.json":                               `{"version": "1.0.0"}`,
		ui + "/node_modules/a/LICENSE-MIT":                                "text of a\r\n",
		ui + "/node_modules/a/NOTICE":                                     "notice of a",
		ui + "/node_modules/a/license.js":                                 "no text",
		ui + "/node_modules/a/node_modules/@b/c/package.json":             `{"version": "2.0.0"}`,
		ui + "/node_modules/a/node_modules/@b/c/licence":                  "text of c",
		ui + "/node_modules/vite/package.json":                            `{"version": "8.0.0"}`,
		ui + "/node_modules/vite/LICENSE.md":                              "text of c",
		ui + "/node_modules/@bufbuild/protobuf/package.json":              `{"version": "1.10.1"}`,
		ui + "/node_modules/@bufbuild/protobuf/dist/cjs/google/varint.js": "\"use strict\";\n// Copyright\n//\n// somebody\nconst a = 1;\n// not this\n",
	})
	texts, err := npmTexts(ui)
	if err != nil {
		t.Fatal(err)
	}
	want := `Convene is under the Apache License 2.0, which is in the file LICENSE. It contains what follows.
= @b/c 2.0.0
vite 8.0.0 - text of c
= @bufbuild/protobuf 1.10.1 - Apache

Copyright

somebody
= a 1.0.0 - text of a

notice of a
`
	got := strings.NewReplacer("\n"+strings.Repeat("=", 80)+"\n", "= ", "\n"+strings.Repeat("-", 80)+"\n\n", " - ").Replace(string(notices(texts)))
	if got != want {
		t.Errorf("%s", got)
	}

	for path, wrong := range map[string]struct{ text, says string }{
		"a/package.json":              {`{"version": "1.0.1"}`, `is version "1.0.1"`},
		"a/node_modules/@b/c/licence": {" ", "no file with a licence"},
	} {
		path = filepath.Join(ui, "node_modules", path)
		right, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, map[string]string{path: wrong.text})
		if _, err := npmTexts(ui); err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("%v, want %q", err, wrong.says)
		}
		writeAll(t, map[string]string{path: string(right)})
	}
}
