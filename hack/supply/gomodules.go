// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// module is a Go module that is linked into a binary, whole or in part.
type module struct{ path, version, dir string }

// linkedModules are those of all commands, without our own.
func linkedModules() ([]module, error) {
	out, err := exec.Command("go", "list", "-deps",
		"-f", `{{with .Module}}{{if not .Main}}{{with .Replace}}{{.Path}} {{.Version}} {{.Dir}}{{else}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}{{end}}`,
		"./cmd/...", "./hack/local").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []module
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 {
			all = append(all, module{path: f[0], version: f[1], dir: f[2]})
		}
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(all), nil
}

// allowedGo are licences of what is linked in. MPL-2.0 is about changes to its own files, and Convene makes none.
var allowedGo = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "CC0-1.0", "Unlicense"}

var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-.].*)?$`)

// enough is the part of a licence file, in percent, that must be the text of known licences.
const enough = 75

// license names the licences of a module. It is an error when there is none, or one that is not allowed.
func (m module) license() ([]string, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		found := licensecheck.Scan(text)
		if found.Percent < enough {
			continue
		}
		for _, match := range found.Match {
			names = append(names, match.ID)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil, fmt.Errorf("%s %s has no licence file that can be told", m.path, m.version)
	}
	for _, name := range names {
		if !slices.Contains(allowedGo, name) {
			return names, fmt.Errorf("%s %s has the licence %s, which is not among %s", m.path, m.version, name, strings.Join(allowedGo, ", "))
		}
	}
	return names, nil
}
