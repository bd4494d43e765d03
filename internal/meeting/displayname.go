// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"convene.dev/convene/internal/fault"
)

// ValidateName checks a participant's display name: 1 to 128 Unicode characters, no control characters, and something to
// see.
func ValidateName(name string) error {
	if err := validateText("name", name); err != nil {
		return err
	}
	if !strings.ContainsFunc(name, isVisible) {
		return fault.Invalid("name", "name must have a character that can be seen; give another name")
	}
	return nil
}

// blanks are letters and symbols that fonts draw as nothing.
var blanks = map[rune]bool{'\u115f': true, '\u1160': true, '\u2800': true, '\u3164': true, '\uffa0': true}

func isVisible(r rune) bool {
	return unicode.In(r, unicode.Letter, unicode.Number, unicode.Punct, unicode.Symbol) && !blanks[r]
}

// DistinctName is a guest's name with a number after it if another participant has that name, so that no guest is taken for
// another one by the name alone.
func DistinctName(name string, others []string) string {
	taken := map[string]bool{}
	for _, other := range others {
		taken[nameKey(other)] = true
	}
	distinct := name
	for n := 2; taken[nameKey(distinct)]; n++ {
		number := fmt.Sprintf(" (%d)", n)
		letters := []rune(name)
		distinct = string(letters[:min(len(letters), MaxNameLength-len(number))]) + number
	}
	return distinct
}

// nameKey is the same for names that look the same: whatever the case, the width or the way of writing accents.
func nameKey(name string) string {
	return cases.Fold().String(norm.NFKC.String(CleanName(name)))
}
