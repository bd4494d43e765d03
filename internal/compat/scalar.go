// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxWhole is the greatest whole number that every reader of JSON keeps exact, with all below it.
const maxWhole = 1 << 53

// Scalar is a string's content, a whole number without fraction and exponent, or any other value as written. The value is one of a
// valid document, or nil for an absent one.
func Scalar(value jsontext.Value) []byte {
	switch value.Kind() {
	case '"':
		return Content(value)
	case '0':
		if n, err := strconv.ParseFloat(string(value), 64); err == nil && n == math.Trunc(n) && math.Abs(n) <= maxWhole {
			return strconv.AppendInt(nil, int64(n), 10)
		}
	}
	return value
}

// Content returns the text in a string of a valid document: the bytes of the document if nothing in them is escaped.
func Content(value jsontext.Value) []byte {
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, value)
	return text
}

// ReadText reads a string, or a number as its text, and reports whether the value is either.
func ReadText(value jsontext.Value) (string, bool) {
	switch value.Kind() {
	case '"', '0':
		return string(Scalar(value)), true
	}
	return "", false
}

// ReadFlag reads a boolean, which may be written as a string in any case, or as a number. It reports whether the value is one.
func ReadFlag(value jsontext.Value) (flag, ok bool) {
	switch strings.ToLower(string(Scalar(value))) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// MeansNone reports whether a value stands for no value: false, or a word that templates and client libraries write for nothing, in any
// case and with spaces around it. docs/migrate.md has the same words.
func MeansNone(value jsontext.Value) bool {
	switch strings.ToLower(strings.TrimSpace(string(Scalar(value)))) {
	case "", "false", "0", "none", "null", "nil", "undefined", "<nil>", "(null)", "<no value>":
		return true
	}
	return false
}
