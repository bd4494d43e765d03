// SPDX-License-Identifier: Apache-2.0

// Command supply looks at what the product is made of, without a network: that lock files are whole, that every licence
// is one of those allowed, and what the bill of materials is. It runs at the root of the repository.
//
//	supply check              lock files and licences
//	supply sbom BINARY FOLDER bills of materials in CycloneDX JSON
//	supply notices BINARY FILE licences and notices of all that is in the binary
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// npmFolders have a package.json with its lock file. Both are built into the binary.
var npmFolders = []string{"internal/web/ui", "internal/httpapi/docsui"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case slices.Equal(args, []string{"check"}):
		return check()
	case len(args) == 3 && args[0] == "sbom":
		return writeBills(args[1], args[2])
	case len(args) == 3 && args[0] == "notices":
		return writeNotices(args[1], args[2])
	}
	return errors.New("usage: supply check | supply sbom BINARY FOLDER | supply notices BINARY FILE")
}

func check() error {
	var wrong []error
	modules, err := linkedModules()
	if err != nil {
		return err
	}
	for _, m := range modules {
		if _, err := m.license(); err != nil {
			wrong = append(wrong, err)
		}
	}
	packages := 0
	for _, folder := range npmFolders {
		lock, err := readLock(folder)
		if err != nil {
			return err
		}
		packages += len(lock.Packages) - 1
		wrong = append(wrong, lock.check()...)
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	fmt.Printf("    %d Go modules and %d npm packages: locked, and their licences allowed\n", len(modules), packages)
	return nil
}
