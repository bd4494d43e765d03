// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"unicode/utf8"

	"convene.dev/convene/internal/fault"
)

// ValidateText checks a text of at most so many Unicode characters that participants read.
func ValidateText(text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fault.Invalid("text", "text is required; write 1 to %d characters", most)
	case utf8.RuneCountInString(text) > most:
		return fault.Invalid("text", "text must have at most %d characters; shorten it", most)
	}
	return nil
}
