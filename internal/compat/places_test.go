// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPlacesAreDocumented holds the table of links of docs/migrate.md and the places together.
func TestPlacesAreDocumented(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "migrate.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{"js": true}
	for _, row := range regexp.MustCompile("(?m)^\\| `(?:/login|<host>/newcall)`.* \\|.*$").FindAllString(string(raw), -1) {
		for _, link := range regexp.MustCompile("`(?:<host>)?/([A-Za-z]+)[^`]*`").FindAllStringSubmatch(row, -1) {
			documented[strings.ToLower(link[1])] = true
		}
	}
	delete(documented, "join")
	for name := range documented {
		if PlaceOf(name) == NoPlace {
			t.Errorf("/%s is documented, and leads to a room", name)
		}
	}
	for name := range places {
		if !documented[name] {
			t.Errorf("/%s is not documented", name)
		}
	}
}
