// SPDX-License-Identifier: Apache-2.0

package devstack_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"convene.dev/convene/internal/devstack"
)

func TestOpenPKI(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	someone := devstack.User{File: "someone", Name: "someone"}
	cases := []struct {
		reason string
		now    time.Time
		users  []devstack.User
		spoil  func(dir string) error
		same   bool
	}{
		{reason: "the same certificates at the next start", now: start.AddDate(1, 0, 0), same: true},
		{reason: "new ones before they expire", now: start.AddDate(10, 0, -20)},
		{reason: "new ones for one user more", now: start, users: []devstack.User{someone}},
		{reason: "new ones when a file is missing", now: start,
			spoil: func(dir string) error { return os.Remove(filepath.Join(dir, "service-account.key")) }},
		{reason: "new ones when a file is broken", now: start,
			spoil: func(dir string) error { return os.WriteFile(filepath.Join(dir, "admin.key"), nil, 0o600) }},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "pki")
			if _, err := devstack.OpenPKI(dir, start); err != nil {
				t.Fatal(err)
			}
			before := read(t, dir)
			if c.spoil != nil {
				if err := c.spoil(dir); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := devstack.OpenPKI(dir, c.now, c.users...); err != nil {
				t.Fatal(err)
			}
			if got := bytes.Equal(before, read(t, dir)); got != c.same {
				t.Fatalf("same certificate: %v, want %v", got, c.same)
			}
		})
	}
}

func read(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "admin.crt"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
