// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// valid is an RFC 1123 label; the regular expression would take longer than all the rest.
func valid(name string) bool {
	if len(name) == 0 || len(name) > 63 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0 || i == len(name)-1) {
			return false
		}
	}
	return true
}

// trickyPairs are a thousand pairs that run together when they are joined by hand: every way to cut a text with
// separators in two, lengths spelled out in the text, and rooms that share a slug.
func trickyPairs() [][2]string {
	var pairs [][2]string
	for _, text := range []string{
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z",
		"a/b:c|d\x00e\x00f..g  h\t\x1f",
		"1a1b1c2aa11a\x00\x00\x00\x00\x00\x00\x00\x01b\x00\x00\x00\x00\x00\x00\x00\x02",
		"会議室会議室会議室会議室会議室会議室会議室",
	} {
		for cut := range len(text) + 1 {
			pairs = append(pairs, [2]string{text[:cut], text[cut:]})
		}
	}
	for i := range 600 {
		room := strings.Repeat("-", i%7) + "Plan" + strings.Repeat(" ", i%11) + "B" + strings.Repeat("!", i%13)
		pairs = append(pairs, [2]string{fmt.Sprint("c", i/1001), room})
	}
	return pairs
}

// The hash alone must tell pairs apart: the slug is for people.
func TestAMillionObjectNames(t *testing.T) {
	const million, workers = 1_000_000, 4
	tricky := trickyPairs()
	pair := func(i int) [2]string {
		if i < len(tricky) {
			return tricky[i]
		}
		n := len(configs)
		return [2]string{configs[i%n], "Room " + configs[i/n%n] + strconv.Itoa(i/n/n)}
	}
	hashes := make([][hashLength]byte, million)
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for i := worker; i < million; i += workers {
				p := pair(i)
				name := objectName(p[0], p[1])
				if !valid(name) {
					t.Errorf("%q of %q is no RFC 1123 label", name, p)
				}
				copy(hashes[i][:], name[len(name)-hashLength:])
			}
		})
	}
	all.Wait()
	seen := make(map[[hashLength]byte]int32, million)
	for i, hash := range hashes {
		if other, taken := seen[hash]; taken && pair(i) != pair(int(other)) {
			t.Errorf("%q and %q both have %q", pair(int(other)), pair(i), hash)
		}
		seen[hash] = int32(i)
	}
	if len(seen) < million-len(tricky) {
		t.Errorf("only %d pairs were different", len(seen))
	}
}

// configs are names that are each other's beginnings, so that pairs of them are hard to tell apart.
var configs = func() (names []string) {
	for i := range 100 {
		names = append(names, strings.Repeat("a", i/10)+strings.Repeat("-a", i%10)+"b")
	}
	return names
}()
