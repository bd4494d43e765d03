// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const wholeLock = `{"lockfileVersion": 3, "packages": {
	"": {"dependencies": {"a": "1.0.0"}},
	"node_modules/a": {"version": "1.0.0", "integrity": "sha512-x", "license": "MIT"},
	"node_modules/a/node_modules/@b/c": {"version": "1.0.0", "integrity": "sha512-x", "license": "MPL-2.0", "dev": true}}}`

func TestLockFiles(t *testing.T) {
	for _, tc := range []struct{ reason, from, to, says string }{
		{"nothing wrong", "", "", ""},
		{"another version of what is declared", `"a": "1.0.0"`, `"a": "1.0.1"`, "not of this package.json"},
		{"an old format", `"lockfileVersion": 3`, `"lockfileVersion": 1`, "not of this package.json"},
		{"no hash", `"integrity": "sha512-x", "license": "MIT"`, `"license": "MIT"`, "node_modules/a has no sha512"},
		{"a weak hash", "sha512", "sha1", "no sha512"},
		{"from elsewhere", `"version": "1.0.0", "integrity"`, `"resolved": "https://evil.example/a.tgz", "integrity"`, "comes from https://evil.example"},
		{"from a name like the registry's", `"version": "1.0.0", "integrity"`, `"resolved": "https://registry.npmjs.org.evil.example/a.tgz", "integrity"`, "comes from"},
		{"a script at install time", `"license": "MIT"`, `"license": "MIT", "hasInstallScript": true`, "node_modules/a runs a script"},
		{"a licence that is not allowed", `"MIT"`, `"AGPL-3.0"`, `the licence "AGPL-3.0"`},
		{"no licence", `"MIT"`, `""`, `the licence ""`},
		{"a build tool's licence in what is shipped", `"MIT"`, `"MPL-2.0"`, `the licence "MPL-2.0"`},
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"package.json": `{"dependencies": {"a": "1.0.0"}}`, "package-lock.json": strings.Replace(wholeLock, tc.from, tc.to, 1),
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		lock, err := readLock(folder)
		if err != nil {
			t.Fatal(err)
		}
		wrong := lock.check()
		if tc.says == "" && len(wrong) > 0 || tc.says != "" && (len(wrong) != 1 || !strings.Contains(wrong[0].Error(), tc.says)) {
			t.Errorf("%s: %v, want %q", tc.reason, wrong, tc.says)
		}
	}
}

func TestIsAllowed(t *testing.T) {
	for expression, want := range map[string]bool{
		"MIT": true, "(MIT OR GPL-3.0)": true, "(Apache-2.0 AND BSD-3-Clause)": true, "(MIT AND GPL-3.0)": false, "GPL-2.0 OR GPL-3.0": false, "": false,
		"mit": false, "SEE LICENSE IN LICENSE": false, "UNLICENSED": false,
	} {
		if got := isAllowed(expression, allowedNPM); got != want {
			t.Errorf("%q: %v, want %v", expression, got, want)
		}
	}
}

const gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public
License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.

You should have received a copy of the GNU General Public License along with this program. If not, see
<https://www.gnu.org/licenses/>.`

func TestModuleLicenses(t *testing.T) {
	ours, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ reason, file, text, says string }{
		{"a known one", "LICENSE.txt", string(ours), ""},
		{"none", "README.md", string(ours), "no licence file"},
		{"words of its own", "LICENSE", "You may do what I like.", "no licence file"},
		{"one that is not allowed", "COPYING", gpl, "the licence GPL-3.0"},
	} {
		m := module{path: "example.com/m", version: "v1.0.0", dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(m.dir, tc.file), []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := m.license()
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
		}
	}
}
