// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"convene.dev/convene/internal/testkit"
)

// That each test turns red is for `make test-mutants`; this sees that the table still fits the code.
func TestMutantsFitTheCode(t *testing.T) {
	testkit.DependOnTree()
	all, err := mutants()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 12 {
		t.Errorf("only %d guards", len(all))
	}
	root, seen := testkit.Root(t), map[string]bool{}
	for _, m := range all {
		if err := m.check(root); err != nil {
			t.Errorf("%s: %v", m.Guard, err)
		}
		if seen[m.Guard] || m.Guard == "" || m.Old == m.New {
			t.Errorf("%q is there twice, or changes nothing", m.Guard)
		}
		seen[m.Guard] = true
	}
}

// A mutant that no longer fits must not pass for one that was caught.
func TestCheckSeesWhatNoLongerFits(t *testing.T) {
	root := testkit.Root(t)
	fits := mutant{Guard: "g", File: "hack/mutants/table.go", Old: "occurs there once;", New: "occurs once;", Test: "hack/mutants TestMutantsFitTheCode"}
	if err := fits.check(root); err != nil {
		t.Error(err)
	}
	for reason, change := range map[string]func(*mutant){
		"the text is not there":  func(m *mutant) { m.Old = "no such " + "text" },
		"it is there many times": func(m *mutant) { m.Old = "err" },
		"the file is not there":  func(m *mutant) { m.File = "hack/mutants/none.go" },
		"it is no Go any more":   func(m *mutant) { m.Old = "package main"; m.New = "pack" },
		"there is no such test":  func(m *mutant) { m.Test = "hack/mutants TestNone" },
	} {
		m := fits
		change(&m)
		if m.check(root) == nil {
			t.Errorf("%s, and it fits", reason)
		}
	}
}
