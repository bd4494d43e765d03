// SPDX-License-Identifier: Apache-2.0

package credential

import "strings"

// flag is a boolean that is one letter of a claim when it is true.
type flag struct {
	letter byte
	value  *bool
}

func encodeFlags(flags []flag) string {
	letters := make([]byte, 0, len(flags))
	for _, f := range flags {
		if *f.value {
			letters = append(letters, f.letter)
		}
	}
	return string(letters)
}

func decodeFlags(letters string, flags []flag) {
	for _, f := range flags {
		*f.value = strings.IndexByte(letters, f.letter) >= 0
	}
}
