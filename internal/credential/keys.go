// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MinKeyLength is the number of characters below which an API key works but is reported as weak.
const MinKeyLength = 16

// KeyProblemKind is what is wrong with one API key.
type KeyProblemKind string

// What can be wrong with an API key.
const (
	// KeyEmpty is a value without content. It is refused.
	KeyEmpty KeyProblemKind = "Empty"
	// KeySample is a value from a published sample, which is no secret. It is refused.
	KeySample KeyProblemKind = "Sample"
	// KeyUnusable is a value that no HTTP header can carry. It is refused.
	KeyUnusable KeyProblemKind = "Unusable"
	// KeyDuplicate is a value that is there already. It changes nothing.
	KeyDuplicate KeyProblemKind = "Duplicate"
	// KeyWeak is a value shorter than MinKeyLength. It works.
	KeyWeak KeyProblemKind = "Weak"
)

// KeyProblem is one thing that is wrong with one API key.
type KeyProblem struct {
	// Index is the key's position among the values that were given.
	Index int
	Kind  KeyProblemKind
}

// Refused reports whether the key does not work because of the problem.
func (p KeyProblem) Refused() bool {
	return p.Kind == KeyEmpty || p.Kind == KeySample || p.Kind == KeyUnusable
}

// String says the problem and how to fix it, without the key.
func (p KeyProblem) String() string {
	says := map[KeyProblemKind]string{
		KeyEmpty:     "is empty: put a random value of 32 characters or more into it",
		KeySample:    "is a published sample value, which is no secret: put a random value of your own into it",
		KeyUnusable:  "holds control characters, which no HTTP header can carry: put a value of one line into it",
		KeyDuplicate: "is the same as another one: remove it",
		KeyWeak:      fmt.Sprintf("is shorter than %d characters: put a longer random value into it", MinKeyLength),
	}
	return fmt.Sprintf("API key %d %s", p.Index+1, says[p.Kind])
}

// KeyRing is the set of API keys that a tenant accepts. Each of them opens the API. It holds digests only.
// The zero value accepts nothing.
type KeyRing struct {
	digests      [][sha256.Size]byte
	fingerprints []string
}

// NewKeyRing returns the ring of all usable values, and what is wrong with each of the others.
func NewKeyRing(values []string) (KeyRing, []KeyProblem) {
	var ring KeyRing
	var problems []KeyProblem
	seen := make(map[[sha256.Size]byte]bool, len(values))
	for i, value := range values {
		value = trimKey(value)
		if kind := unusable(value); kind != "" {
			problems = append(problems, KeyProblem{Index: i, Kind: kind})
			continue
		}
		digest := sha256.Sum256([]byte(value))
		if seen[digest] {
			problems = append(problems, KeyProblem{Index: i, Kind: KeyDuplicate})
			continue
		}
		seen[digest] = true
		if utf8.RuneCountInString(value) < MinKeyLength {
			problems = append(problems, KeyProblem{Index: i, Kind: KeyWeak})
		}
		ring.digests = append(ring.digests, digest)
		ring.fingerprints = append(ring.fingerprints, keyFingerprint(digest))
	}
	return ring, problems
}

// Len is the number of keys that the ring accepts.
func (r KeyRing) Len() int { return len(r.digests) }

// Fingerprints returns the names of the ring's keys for logs, in the order in which the keys were given.
func (r KeyRing) Fingerprints() []string { return append([]string(nil), r.fingerprints...) }

// Match reports whether presented is one of the keys, and that key's name for logs. It takes the same time whichever
// key matches, and if none does.
func (r KeyRing) Match(presented string) (fingerprint string, ok bool) {
	digest := sha256.Sum256([]byte(trimKey(presented)))
	found := -1
	for i := range r.digests {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(digest[:], r.digests[i][:]), i, found)
	}
	if found < 0 {
		return "", false
	}
	return r.fingerprints[found], true
}

// trimKey removes what a Secret made from a file ends with, and the space that HTTP does not count as part of a
// header's value (RFC 9110, section 5.5).
func trimKey(value string) string { return strings.Trim(value, " \t\r\n") }

func unusable(value string) KeyProblemKind {
	switch {
	case value == "":
		return KeyEmpty
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return KeyUnusable
	case isSample(value):
		return KeySample
	}
	return ""
}

// keyFingerprint names a key in logs: enough to tell keys apart, too little to find one by.
func keyFingerprint(digest [sha256.Size]byte) string {
	sum := sha256.Sum256(append([]byte("convene/api-key-fingerprint/v1\x00"), digest[:]...))
	return hex.EncodeToString(sum[:4])
}
