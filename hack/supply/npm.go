// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifest is what matters here of a package.json, and of the same in a lock file.
type manifest struct {
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
}

// lockFile is a package-lock.json.
type lockFile struct {
	folder   string
	declared manifest
	Version  int                      `json:"lockfileVersion"`
	Packages map[string]lockedPackage `json:"packages"`
}

type lockedPackage struct {
	manifest
	Version    string `json:"version"`
	Resolved   string `json:"resolved"`
	Integrity  string `json:"integrity"`
	License    string `json:"license"`
	Dev        bool   `json:"dev"`
	HasInstall bool   `json:"hasInstallScript"`
}

func readLock(folder string) (*lockFile, error) {
	l := &lockFile{folder: folder}
	for name, into := range map[string]any{"package.json": &l.declared, "package-lock.json": l} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, into); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(folder, name), err)
		}
	}
	return l, nil
}

// Licences of what reaches browsers, and of what only builds and checks it.
var (
	allowedNPM   = []string{"0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}
	allowedTools = append([]string{"CC-BY-4.0", "MPL-2.0", "Python-2.0"}, allowedNPM...)
)

// mayInstall are the packages that may run something when they are installed: this one is switched off in package.json.
var mayInstall = []string{"@scarf/scarf"}

// registry is where packages come from; most lock files leave it out.
const registry = "https://registry.npmjs.org/"

func (l *lockFile) check() (wrong []error) {
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%s: %s", filepath.Join(l.folder, "package-lock.json"), fmt.Sprintf(format, args...)))
	}
	root := l.Packages[""]
	if l.Version != 3 || !maps.Equal(root.Dependencies, l.declared.Dependencies) || !maps.Equal(root.DevDependencies, l.declared.DevDependencies) {
		say("it is not of this package.json: run npm install --package-lock-only")
	}
	for _, path := range slices.Sorted(maps.Keys(l.Packages)) {
		p := l.Packages[path]
		allowed := allowedNPM
		if p.Dev {
			allowed = allowedTools
		}
		switch {
		case path == "":
		case !strings.HasPrefix(p.Integrity, "sha512-"):
			say("%s has no sha512", path)
		case p.Resolved != "" && !strings.HasPrefix(p.Resolved, registry):
			say("%s comes from %s", path, p.Resolved)
		case p.HasInstall && !slices.Contains(mayInstall, packageName(path)):
			say("%s runs a script when it is installed", path)
		case !isAllowed(p.License, allowed):
			say("%s has the licence %q, which is not among %s", path, p.License, strings.Join(allowed, ", "))
		}
	}
	return wrong
}

// packageName is the last part of a path in a lock file, for example node_modules/a/node_modules/@b/c.
func packageName(path string) string {
	const folder = "node_modules/"
	return path[max(0, strings.LastIndex(path, folder)+len(folder)):]
}

// isAllowed reads an SPDX expression without nesting: all of AND, or one of OR.
func isAllowed(expression string, allowed []string) bool {
	expression = strings.Trim(expression, "()")
	has := func(name string) bool { return slices.Contains(allowed, name) }
	if names := strings.Split(expression, " OR "); len(names) > 1 {
		return slices.ContainsFunc(names, has)
	}
	return !slices.ContainsFunc(strings.Split(expression, " AND "), func(name string) bool { return !has(name) })
}
