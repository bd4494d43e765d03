// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// oracle runs a script in Node.js with the npm packages of the room page. It finds the JSON of the input in `input`, and
// writes JSON.
func oracle(t testing.TB, script string, input, output any) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	packages := filepath.Join("..", "web", "ui")
	if _, err := os.Stat(filepath.Join(packages, "node_modules", "crypto-js")); err != nil {
		t.Fatalf("the npm packages are not installed: run `make web` (%v)", err)
	}
	run := exec.CommandContext(t.Context(), "node", "-e", `const input = require('node:fs').readFileSync(0, 'utf8');`+script)
	run.Dir, run.Stdin = packages, bytes.NewReader(text)
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if err := json.Unmarshal(out, output); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
