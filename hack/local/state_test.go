// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStateIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	first, firstPorts := start(t, path, io.Discard)
	second, secondPorts := start(t, path, io.Discard)
	if diff := cmp.Diff(first.Keys, second.Keys); diff != "" {
		t.Errorf("the keys of the second start differ (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(firstPorts, secondPorts); diff != "" {
		t.Errorf("the ports of the second start differ (-first +second):\n%s", diff)
	}
	if len(first.Keys.LiveKitSecret) < 32 {
		t.Errorf("LiveKit refuses secrets under 32 characters: %d", len(first.Keys.LiveKitSecret))
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the keys can be read by others: %v", info.Mode())
	}
}

func TestPortTakenForOneStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	_, first := start(t, path, io.Discard)
	other, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first[portA])))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, second := start(t, path, &out)
	if second[portA] == first[portA] || !strings.Contains(out.String(), strconv.Itoa(first[portA])) {
		t.Errorf("port %d is in use; took %d and said %q", first[portA], second[portA], out.String())
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	_, third := start(t, path, io.Discard)
	if third[portA] != first[portA] {
		t.Errorf("port %d is free again, and links begin with it; took %d", first[portA], third[portA])
	}
}

func TestDamagedState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadState(path); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Fatalf("want an error that says how to fix it, got %v", err)
	}
}

func start(t *testing.T, path string, out io.Writer) (*state, map[string]int) {
	t.Helper()
	s, err := loadState(path)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := s.pickPorts(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.save(); err != nil {
		t.Fatal(err)
	}
	return s, ports
}
