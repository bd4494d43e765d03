// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"strings"
	"testing"
)

func FuzzAccepts(f *testing.F) {
	for _, seed := range []string{"", "br", "gzip, br", "br;q=0", "br;q=", "br;q=1;x", ",,;;==", "*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if accepts([]string{header}, "br") && !strings.Contains(strings.ToLower(header), "br") {
			t.Errorf("%q accepts br", header)
		}
	})
}
