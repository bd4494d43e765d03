// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed mutants.yaml
var table []byte

// mutant is the code without one of its guards.
type mutant struct {
	// Guard says what the code makes sure of.
	Guard string `json:"guard"`
	// File is where, relative to the module. Old occurs there once; New takes its place.
	File string `json:"file"`
	Old  string `json:"old"`
	New  string `json:"new"`
	// Test is a package's folder and the test in it that must turn red.
	Test string `json:"test"`
}

func mutants() ([]mutant, error) {
	var all []mutant
	err := yaml.UnmarshalStrict(table, &all)
	return all, err
}

func (m mutant) pkg() string  { pkg, _, _ := strings.Cut(m.Test, " "); return pkg }
func (m mutant) name() string { _, name, _ := strings.Cut(m.Test, " "); return name }

// mutated is the file without the guard.
func (m mutant) mutated(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return "", fmt.Errorf("the guard's text is %d times in %s, not once; bring mutants.yaml up to date", n, m.File)
	}
	mutated := strings.Replace(string(text), m.Old, m.New, 1)
	_, err = parser.ParseFile(token.NewFileSet(), m.File, mutated, parser.SkipObjectResolution)
	return mutated, err
}

// check says whether the mutant still fits the code.
func (m mutant) check(root string) error {
	if _, err := m.mutated(root); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(root, m.pkg(), "*_test.go"))
	if err != nil {
		return err
	}
	declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(m.name()) + `\(t \*testing\.T\)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if declared.Match(text) {
			return nil
		}
	}
	return fmt.Errorf("there is no test %s in %s", m.name(), m.pkg())
}
