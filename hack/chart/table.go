// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The table of values stands between these lines of the README.
const (
	tableBegin = "<!-- values: written by `make chart` from values.yaml -->\n"
	tableEnd   = "<!-- end of values -->\n"
)

// value is one line of the table.
type value struct{ name, initial, about string }

func writeTable(valuesFile, readme string) error {
	raw, err := os.ReadFile(valuesFile)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return err
	}
	all, err := valuesOf(document.Content[0], "")
	if err != nil {
		return err
	}
	page, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), tableBegin)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		return fmt.Errorf("%s needs the lines %q and %q", readme, tableBegin, tableEnd)
	}
	table := "\n| value | default | what it does |\n| --- | --- | --- |\n"
	for _, v := range all {
		table += fmt.Sprintf("| `%s` | `%s` | %s |\n", v.name, v.initial, strings.ReplaceAll(v.about, "|", "\\|"))
	}
	return os.WriteFile(readme, []byte(before+tableBegin+table+"\n"+tableEnd+after), 0o644)
}

// valuesOf lists the values under a mapping. One that has no comment of its own is an error, unless it only groups
// others.
func valuesOf(mapping *yaml.Node, prefix string) ([]value, error) {
	var all []value
	for i := 0; i < len(mapping.Content); i += 2 {
		key, node := mapping.Content[i], mapping.Content[i+1]
		name := prefix + key.Value
		if key.HeadComment == "" {
			if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
				return nil, fmt.Errorf("%s has no comment in values.yaml", name)
			}
			inner, err := valuesOf(node, name+".")
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
			continue
		}
		var initial any
		if err := node.Decode(&initial); err != nil {
			return nil, err
		}
		encoded, err := json.Marshal(initial)
		if err != nil {
			return nil, err
		}
		all = append(all, value{name: name, initial: string(encoded), about: prose(key.HeadComment)})
	}
	return all, nil
}

// prose joins the lines of a comment.
func prose(comment string) string {
	var words []string
	for line := range strings.SplitSeq(comment, "\n") {
		words = append(words, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")))
	}
	return strings.Join(words, " ")
}
