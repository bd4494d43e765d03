// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBills writes the bill of a Go binary, as its linker has noted it, and those of the pages in it.
func writeBills(binary, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	bom, err := billOf(binary)
	if err != nil {
		return err
	}
	var encoded bytes.Buffer
	if err := cdx.NewBOMEncoder(&encoded, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	if err := write(folder, filepath.Base(binary), encoded.Bytes()); err != nil {
		return err
	}
	for _, from := range npmFolders {
		text, err := npmBill(from)
		if err != nil {
			return err
		}
		if err := write(folder, strings.ReplaceAll(from, "/", "-"), text); err != nil {
			return err
		}
	}
	return nil
}

// write saves a bill after it has been read back as what it should be.
func write(folder, name string, text []byte) error {
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		return fmt.Errorf("the bill of %s: %w", name, err)
	}
	if bom.Components == nil || len(*bom.Components) == 0 {
		return fmt.Errorf("the bill of %s is empty", name)
	}
	path := filepath.Join(folder, name+".cdx.json")
	fmt.Printf("    %s: %d components\n", path, len(*bom.Components))
	return os.WriteFile(path, text, 0o644)
}

func billOf(binary string) (*cdx.BOM, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	known, err := linkedModules()
	if err != nil {
		return nil, err
	}
	components := []cdx.Component{{
		Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		c := cdx.Component{
			Type: cdx.ComponentTypeLibrary, Name: d.Path, Version: d.Version, PackageURL: "pkg:golang/" + d.Path + "@" + d.Version,
		}
		c.BOMRef = c.PackageURL
		i := slices.IndexFunc(known, func(m module) bool { return m.path == d.Path && m.version == d.Version })
		if i < 0 {
			return nil, fmt.Errorf("%s has %s %s, and this tree has not: build it again", binary, d.Path, d.Version)
		}
		names, err := known[i].license()
		if err != nil {
			return nil, err
		}
		licenses := cdx.Licenses{}
		for _, name := range names {
			licenses = append(licenses, cdx.LicenseChoice{License: &cdx.License{ID: name}})
		}
		c.Licenses = &licenses
		components = append(components, c)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: info.Main.Path, Version: info.Main.Version, PackageURL: "pkg:golang/" + info.Main.Path,
	}}
	bom.Components = &components
	return bom, nil
}

// npmBill is npm's own, with what the page is built with: bundlers copy parts of their packages into the page.
func npmBill(folder string) ([]byte, error) {
	command := exec.Command("npm", "sbom", "--sbom-format=cyclonedx", "--package-lock-only")
	command.Dir = folder
	out, err := command.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("npm sbom in %s: %w\n%s", folder, err, exit.Stderr)
	}
	return out, err
}
