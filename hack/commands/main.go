// SPDX-License-Identifier: Apache-2.0

// Command commands writes the names of the commands that presenters give into the description of the page's calls.
package main

import (
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"

	"convene.dev/convene/internal/moderation"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: commands FILE")
	}
	file := os.Args[1]
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	for schema, onOne := range map[string]bool{"ToParticipant": true, "ToMeeting": false} {
		var names []string
		for _, c := range moderation.All() {
			if c.Page && c.OnOne == onOne {
				names = append(names, c.Name)
			}
		}
		enum := regexp.MustCompile(fmt.Sprintf(`(?m)^(    %s:\n(?:      .*\n)*?      enum: )\[.*\]$`, schema))
		if !enum.Match(text) {
			log.Fatalf("%s has no enumeration %s", file, schema)
		}
		text = enum.ReplaceAll(text, []byte("${1}["+strings.Join(names, ", ")+"]"))
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		log.Fatal(err)
	}
}
