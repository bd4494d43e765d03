// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/moderation"
)

// labels are the texts of the page that stand for commands, beside those whose key is people. and the name of the command.
var labels = map[string][]string{
	"moderate.lock": {"lock", "unlock"}, "moderate.rules": {"policy", "admission"}, "moderate.muteAll": {"muteAll"}, "moderate.announce": {"announce"},
	"waiting.admit": {"admit"}, "waiting.admitAll": {"admitAll"}, "waiting.refuse": {"refuse"}, "controls.endForAll": {"end"},
}

var (
	textOfPage = regexp.MustCompile(`'([\w.]+)':\s*'((?:[^'\\]|\\.)*)'`)
	labelInDoc = regexp.MustCompile(`\*([^*]+)\*`)
	callInDoc  = regexp.MustCompile("^`([A-Z]+) ?([^`]*)`(?: `(\\{.*?\\})`)?")
)

// TestModerateTable: the table of docs/moderate.md has every command. Its calls are taken, its words are in the page, and it tells what lasts.
func TestModerateTable(t *testing.T) {
	doc, err := os.ReadFile("../../docs/moderate.md")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := os.ReadFile("../web/ui/src/text/en.ts")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	described := map[string]bool{}
	_, table, _ := strings.Cut(string(doc), "| to | in the page |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(row, "|")[1:]
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		lasts := cells[4]
		var commands []string
		for _, label := range labelInDoc.FindAllStringSubmatch(cells[1], -1) {
			commands = append(commands, commandsOf(t, string(texts), label[1])...)
		}
		if call := callInDoc.FindStringSubmatch(cells[2]); call != nil && call[1] != http.MethodGet {
			commands = append(commands, commandsOfCall(t, w, call[1], call[2], call[3])...)
		}
		for _, name := range commands {
			c, _ := moderation.Find(name)
			if described[name] = true; lasts != map[bool]string{true: "yes", false: "no"}[c.Lasts] {
				t.Errorf("%s: lasts is %q, and %s lasts: %t", cells[0], lasts, name, c.Lasts)
			}
		}
	}
	for _, c := range moderation.All() {
		if !described[c.Name] {
			t.Errorf("docs/moderate.md does not have %s; it has %q", c.Name, slices.Sorted(maps.Keys(described)))
		}
	}
}

// commandsOf are the commands of a text of the page. Some of the texts go on after a colon.
func commandsOf(t *testing.T, texts, label string) (commands []string) {
	t.Helper()
	found := false
	for _, text := range textOfPage.FindAllStringSubmatch(texts, -1) {
		if text[2] != label && !strings.HasPrefix(text[2], label+":") {
			continue
		}
		found = true
		name, _ := strings.CutPrefix(text[1], "people.")
		if _, known := moderation.Find(name); known {
			commands = append(commands, name)
		}
		commands = append(commands, labels[text[1]]...)
	}
	if !found {
		t.Errorf("the page has no text %q", label)
	}
	return commands
}

// commandsOfCall makes a call of the table.
func commandsOfCall(t *testing.T, w *world, method, path, body string) []string {
	t.Helper()
	w.meetings.reset("stand-up")
	w.moderator.commands = nil
	target := strings.TrimSuffix("meeting/stand-up/"+strings.ReplaceAll(path, "{identity}", "ann-1"), "/")
	if got := w.do(method, target, body); got.status != http.StatusOK {
		t.Errorf("%s %s %s: %d %s", method, path, body, got.status, got.body)
	}
	if method == http.MethodDelete && path == "" {
		return []string{"end"}
	}
	return w.moderator.commands
}
