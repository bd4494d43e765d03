// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// noticeFile are the files whose text has to travel with copies of the software.
var noticeFile = regexp.MustCompile(`(?i)^((licen[cs]e|copying|unlicense|notice|copyright|patents|authors)([-.].*)?|.*\.LICENSE\.txt)$`)

// notCode are endings of files that have such a name and are no text of a licence.
var notCode = []string{".go", ".js", ".ts", ".json"}

// shippedTools are packages that lock files list as tools, and of which the pages have parts.
var shippedTools = map[string][]string{"internal/web/ui": {"vite"}, "internal/httpapi/docsui": {"swagger-ui-dist"}}

// textsElsewhere are packages whose own files lack a licence of what they contain: the files that have its text, from the root
// of the repository when they begin with a slash.
var textsElsewhere = map[string][]string{
	"@bufbuild/protobuf":               {"/LICENSE", "dist/cjs/google/varint.js"},
	"@mediapipe/selfie_segmentation":   {"/LICENSE"},
	"@sapphi-red/web-noise-suppressor": {"LICENSE", "/internal/web/ui/licences/rnnoise.txt", "/LICENSE"},
}

// writeNotices writes the licences and notices of all that is in a manager, by text: many are alike.
func writeNotices(binary, path string) error {
	texts, err := goTexts(binary)
	if err != nil {
		return err
	}
	for _, folder := range npmFolders {
		more, err := npmTexts(folder)
		if err != nil {
			return err
		}
		maps.Copy(texts, more)
	}
	text := notices(texts)
	fmt.Printf("    %s: %d dependencies, %d bytes\n", path, len(texts), len(text))
	return os.WriteFile(path, text, 0o644)
}

// notices lists each text once, under the names of all that has it.
func notices(texts map[string]string) []byte {
	names := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		names[texts[name]] = append(names[texts[name]], name)
	}
	byFirst := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return strings.Compare(names[a][0], names[b][0]) })
	var out bytes.Buffer
	out.WriteString("Convene is under the Apache License 2.0, which is in the file LICENSE. It contains what follows.\n")
	for _, text := range byFirst {
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(names[text], "\n"), strings.Repeat("-", 80), text)
	}
	return out.Bytes()
}

// goTexts are those of the modules that a binary says it is made of, and of Go itself.
func goTexts(binary string) (map[string]string, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	known, err := linkedModules()
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	if texts["Go "+info.GoVersion], err = textIn(strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		i := slices.IndexFunc(known, func(m module) bool { return m.path == d.Path && m.version == d.Version })
		if i < 0 {
			return nil, fmt.Errorf("%s has %s %s, and this tree has not: build it again", binary, d.Path, d.Version)
		}
		if texts[d.Path+" "+d.Version], err = textIn(known[i].dir); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// npmTexts are those of the packages that are built into a page.
func npmTexts(folder string) (map[string]string, error) {
	lock, err := readLock(folder)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for path, p := range lock.Packages {
		if path == "" || p.Dev && !slices.Contains(shippedTools[folder], packageName(path)) {
			continue
		}
		name := packageName(path)
		dir := filepath.Join(folder, path)
		if err := isVersion(dir, p.Version); err != nil {
			return nil, err
		}
		text, err := textOf(dir, textsElsewhere[name])
		if err != nil {
			return nil, err
		}
		texts[name+" "+p.Version] = text
	}
	return texts, nil
}

// isVersion tells whether what is installed is what the lock file has.
func isVersion(dir, version string) error {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return fmt.Errorf("%w: run make web", err)
	}
	var has struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(text, &has); err != nil || has.Version != version {
		return fmt.Errorf("%s is version %q, and the lock file has %q: run make web", dir, has.Version, version)
	}
	return nil
}

func textOf(dir string, elsewhere []string) (string, error) {
	if elsewhere == nil {
		return textIn(dir)
	}
	var all []string
	for _, name := range elsewhere {
		path := filepath.Join(dir, name)
		if rooted, ok := strings.CutPrefix(name, "/"); ok {
			path = rooted
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if filepath.Ext(path) == ".js" {
			text = firstComment(text)
		}
		if len(text) == 0 {
			return "", fmt.Errorf("%s begins with no comment", path)
		}
		all = append(all, strings.TrimSpace(string(text)))
	}
	return strings.Join(all, "\n\n"), nil
}

// firstComment are the first lines of a script that are comments.
func firstComment(script []byte) []byte {
	var lines []string
	for line := range strings.Lines(string(script)) {
		comment, is := strings.CutPrefix(line, "//")
		if is {
			lines = append(lines, strings.TrimPrefix(comment, " "))
		} else if len(lines) > 0 {
			break
		}
	}
	return []byte(strings.Join(lines, ""))
}

// textIn joins all texts about licences in a folder. It is an error when there are none.
func textIn(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() || !noticeFile.MatchString(e.Name()) || slices.Contains(notCode, filepath.Ext(e.Name())) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		all = append(all, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	if text := strings.Join(all, "\n\n"); text != "" {
		return text, nil
	}
	return "", fmt.Errorf("%s has no file with a licence: find its text, and name it in textsElsewhere of hack/supply", dir)
}
