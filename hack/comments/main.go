// SPDX-License-Identifier: Apache-2.0

// Command comments counts the patterns that make a reader of a comment go back, in the Go files of each package. It fails where a
// package has more than counts.txt records, and lowers a number there where the package has fewer.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const record = "hack/comments/counts.txt"

// patterns are matched against a whole comment, joined to one line. CONTRIBUTING.md lists them with what to write instead.
var patterns = []struct {
	name string
	re   *regexp.Regexp
}{
	{"a definition by a relative clause: name the thing", regexp.MustCompile(
		`^[A-Za-z0-9_, ]{1,60} (?:is|are|was) (?:what|who|whom|whose|how|why|when|where|whether|those|which|the one)\b`)},
	{"a pronoun for a noun: repeat the noun", regexp.MustCompile(
		`(?i)\b(?:one that|one who|one whose|those of|that of|those that|those who|those whom|another one|that one)\b`)},
	{"code does not say: reports whether, returns the reason", regexp.MustCompile(
		`(?i)\bsays? (?:that|whether|what|why|since|how|which|who)\b`)},
	{"who? participant, user, caller", regexp.MustCompile(`(?i)\b(?:person|people|nobody)\b`)},
	{"code does not perceive: observes, probes, notifies, reports, caches", regexp.MustCompile(
		`(?i)\b(?:see|look|tell|told|hear|answered|know|learn|ask)\b`)},
}

// reference matches the start of a reference to a document or a name, which is plain.
var reference = regexp.MustCompile(`\bSee |[(,;] ?see `)

// hit is one match of one pattern.
type hit struct{ at, pattern, text string }

func main() {
	if err := run(os.DirFS("."), record); err != nil {
		fmt.Fprintln(os.Stderr, "comments:", err)
		os.Exit(1)
	}
}

// run compares the packages of root with the record at path. It rewrites the record where a package has fewer hits.
func run(root fs.FS, path string) error {
	found, err := search(root)
	if err != nil {
		return err
	}
	content, err := fs.ReadFile(root, path)
	if err != nil {
		return err
	}
	recorded, err := parse(string(content))
	if err != nil {
		return err
	}
	if more := exceeding(found, recorded); more != "" {
		return fmt.Errorf("%sRewrite the new comments (CONTRIBUTING.md, \"Comments\"). "+
			"If the code comes from another package, take the number from that package's line in %s", more, path)
	}
	if lower := format(found); lower != string(content) {
		if err := os.WriteFile(path, []byte(lower), 0o600); err != nil {
			return err
		}
		return fmt.Errorf("fewer than before: %s has the lower numbers now; commit it", path)
	}
	return nil
}

// search returns the hits by package directory. Tests count; generated files do not.
func search(root fs.FS) (map[string][]hit, error) {
	found := map[string][]hit{}
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "bin") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, parser.ParseComments)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		dir := filepath.Dir(path)
		for _, group := range file.Comments {
			at := set.Position(group.Pos())
			for _, h := range hits(group.Text()) {
				h.at = fmt.Sprintf("%s:%d", path, at.Line)
				found[dir] = append(found[dir], h)
			}
		}
		return nil
	})
	return found, err
}

// hits returns every match of every pattern in one comment.
func hits(comment string) []hit {
	line := reference.ReplaceAllString(strings.Join(strings.Fields(comment), " "), " ")
	var all []hit
	for _, p := range patterns {
		for _, text := range p.re.FindAllString(line, -1) {
			all = append(all, hit{pattern: p.name, text: text})
		}
	}
	return all
}

// parse reads lines of a package directory and its number.
func parse(content string) (map[string]int, error) {
	recorded := map[string]int{}
	for line := range strings.Lines(content) {
		dir, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: the line %q must be a directory and a number", record, strings.TrimSpace(line))
		}
		recorded[dir] = n
	}
	return recorded, nil
}

// format writes what parse reads, sorted by directory. A package without hits has no line.
func format(found map[string][]hit) string {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&b, "%s %d\n", dir, len(found[dir]))
	}
	return b.String()
}

// exceeding lists all hits of each package that has more than its recorded number, and "" if none has.
func exceeding(found map[string][]hit, recorded map[string]int) string {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if len(found[dir]) <= recorded[dir] {
			continue
		}
		fmt.Fprintf(&b, "%s has %d, and may have %d:\n", dir, len(found[dir]), recorded[dir])
		for _, h := range found[dir] {
			fmt.Fprintf(&b, "  %s: %q (%s)\n", h.at, h.text, h.pattern)
		}
	}
	return b.String()
}
