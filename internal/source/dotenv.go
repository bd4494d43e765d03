// SPDX-License-Identifier: Apache-2.0

package source

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Own code rather than a library: those in Go expand $NAME in values, as the services that these files are for do not,
// and so change every secret with a dollar sign in it.

// assignment is the beginning of a line that sets a variable.
var assignment = regexp.MustCompile(`^[ \t]*(?:export[ \t]+)?([A-Za-z0-9_.-]+)[ \t]*(?:=|:[ \t])`)

// Environment returns the variables that a Secret or a ConfigMap holds: all variables of a key named .env (or something.env), as
// `kubectl create secret generic --from-file=.env` makes it, and one to every other key, as --from-env-file does. A variable of its
// own wins over one in a file. Keys named in except are left out.
func Environment(data map[string][]byte, except ...string) map[string]string {
	own, filed := map[string]string{}, map[string]string{}
	for name, value := range data {
		switch {
		case slices.Contains(except, name):
		case strings.HasSuffix(name, ".env"):
			maps.Copy(filed, ParseDotenv(string(value)))
		default: // What made the key has cut comments off: a # without space is in the value.
			own[name], _ = dotenvValue(string(value), spacedComment)
		}
	}
	maps.Copy(filed, own)
	return filed
}

// ParseDotenv reads the text of an environment file: lines NAME=value, with `export ` before or not, values in single,
// double or back quotes, over several lines in quotes, and comments. Lines that are none of this are skipped, and the
// last of several lines for one name counts, as in the dotenv packages.
func ParseDotenv(text string) map[string]string {
	env := map[string]string{}
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for text != "" {
		if m := assignment.FindStringSubmatch(text); m != nil {
			env[m[1]], text = dotenvValue(text[len(m[0]):], anyComment)
			continue
		}
		_, text, _ = strings.Cut(text, "\n")
	}
	return env
}

// comment says where a comment begins behind a value without quotes: at any #, as in dotenv since version 15, or at a # behind space.
type comment bool

const (
	anyComment    comment = true
	spacedComment comment = false
)

// dotenvValue reads one value and returns what is behind its line.
func dotenvValue(text string, begins comment) (value, rest string) {
	text = strings.TrimLeft(text, " \t")
	if value, rest, ok := quotedValue(text); ok {
		return value, rest
	}
	line, rest, _ := strings.Cut(text, "\n")
	value = strings.TrimSpace(withoutComment(line, begins))
	// Quotes around quotes, as in NAME="["a"]", end where the value does.
	if n := len(value); n >= 2 && isQuote(value[0]) && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	return value, rest
}

// quotedValue reads a value in quotes, behind which nothing but a comment may stand in its line. Double quotes turn \n
// and \r into line breaks.
func quotedValue(text string) (value, rest string, ok bool) {
	if text == "" || !isQuote(text[0]) {
		return "", "", false
	}
	end := closingQuote(text)
	if end < 0 {
		return "", "", false
	}
	tail, rest, _ := strings.Cut(text[end+1:], "\n")
	if tail = strings.TrimSpace(tail); tail != "" && tail[0] != '#' {
		return "", "", false
	}
	value = text[1:end]
	if text[0] == '"' {
		value = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(value)
	}
	return value, rest, true
}

// closingQuote finds the quote that ends the one at the beginning; a backslash keeps one from ending it.
func closingQuote(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// withoutComment cuts a line at the first # that begins a comment, as every # at the beginning of a value does.
func withoutComment(line string, begins comment) string {
	for i := range len(line) {
		if line[i] == '#' && (begins == anyComment || i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
