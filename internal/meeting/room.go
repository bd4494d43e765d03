// SPDX-License-Identifier: Apache-2.0

// Package meeting is the pure core: names, lengths, limits, and Plan, which decides everything in a meeting's life
// from what is asked, what is observed and what time it is. No I/O, no clock, no Kubernetes client.
package meeting

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"convene.dev/convene/internal/fault"
)

// MaxNameLength is the greatest length of a room's name and of a person's, in Unicode characters.
const MaxNameLength = 128

// ValidateRoom checks a room's name as people see it: 1 to 128 Unicode characters, no control characters, no / or \,
// not . or .. The schema of Meeting says the same.
func ValidateRoom(room string) error {
	if err := validateText("room", room); err != nil {
		return err
	}
	if strings.ContainsAny(room, `/\`) {
		return fault.Invalid("room", `room must not contain / or \; choose another name`)
	}
	if room == "." || room == ".." {
		return fault.Invalid("room", "room must not be . or ..; choose another name")
	}
	return nil
}

// ValidateAskedRoom checks the name of a room in a request, which need not be clean: what counts is the name that it means.
func ValidateAskedRoom(asked string) error { return ValidateRoom(CleanRoom(asked)) }

func validateText(field, text string) error {
	switch {
	case text == "":
		return fault.Invalid(field, "%s is required; give it 1 to %d characters", field, MaxNameLength)
	case !utf8.ValidString(text):
		return fault.Invalid(field, "%s must be valid UTF-8", field)
	case utf8.RuneCountInString(text) > MaxNameLength:
		return fault.Invalid(field, "%s must have at most %d characters", field, MaxNameLength)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fault.Invalid(field, "%s must not contain control characters; remove them", field)
	}
	return nil
}

const (
	slugLength = 30
	hashLength = 26 // base32 of 130 bits
)

// NameEncoding is base32 (RFC 4648) as names of Kubernetes objects can hold it: lower case, without padding.
var NameEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ObjectNames are the two names that Meetings of the API have for a room of a config. The next Meeting takes the one that the last has not,
// so that the last one stays until the next is there.
func ObjectNames(config, room string) [2]string {
	name := objectName(config, room)
	return [2]string{name, name + "-2"}
}

// objectName is a slug for people and a hash that alone decides, always there, so that a readable name can never be mistaken for a hashed
// one. The lengths are in the hash's input, so that no two pairs run together.
func objectName(config, room string) string {
	h := sha256.New()
	for _, part := range []string{config, room} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	hash := NameEncoding.EncodeToString(h.Sum(nil))[:hashLength]
	if s := slug(room); s != "" {
		return s + "-" + hash
	}
	return "room-" + hash
}

// slug keeps of a name what an object name may hold (RFC 1123 label).
func slug(room string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(room) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
		if b.Len() >= slugLength {
			break
		}
	}
	return b.String()
}
