// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// requiredVersion is the version in a go.mod of the module that has a package. `go list` would download the module for it.
func requiredVersion(mod, pkg string) (string, error) {
	text, err := os.ReadFile(mod)
	if err != nil {
		return "", err
	}
	longest, version := "", ""
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(f) >= 2 && strings.HasPrefix(f[1], "v") && len(f[0]) > len(longest) && strings.HasPrefix(pkg+"/", f[0]+"/") {
			longest, version = f[0], f[1]
		}
	}
	if version == "" && pkg != "." {
		return "", fmt.Errorf("%s requires no module that has %s", mod, pkg)
	}
	return version, nil
}

// minor is the minor number of a version, -1 when it has none.
func minor(version string) int {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return -1
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return -1
	}
	return n
}

// takeFromPath copies the kubectl of PATH where it may be used with this version of the API server: at most one minor
// release older or newer. It is a copy so that bin/ has what was tried, whatever becomes of the other.
func (t tool) takeFromPath(ctx context.Context, version string) bool {
	found, err := exec.LookPath(t.name)
	if err != nil || copyFile(found, t.output+".new") != nil {
		return false
	}
	has, err := kubectlVersion(ctx, t.output+".new")
	if err != nil || minor(has)-minor(version) > 1 || minor(version)-minor(has) > 1 {
		// What is left over is written over by the build.
		return false
	}
	if err := os.Rename(t.output+".new", t.output); err != nil {
		return false
	}
	t.say.line("took %s %s from %s", t.name, has, found)
	return true
}

func copyFile(from, to string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	return writeBinary(to, file)
}

func kubectlVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, path, "version", "--client", "--output=json")
	command.Stderr = io.Discard
	out, err := command.Output()
	if err != nil {
		return "", err
	}
	var said struct {
		ClientVersion struct{ GitVersion string } `json:"clientVersion"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return "", err
	}
	if minor(said.ClientVersion.GitVersion) < 0 {
		return "", errors.New("it does not tell its version")
	}
	return said.ClientVersion.GitVersion, nil
}
