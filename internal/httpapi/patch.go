// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"

	"convene.dev/convene/internal/fault"
)

// patched calls read with a member of a JSON merge patch (RFC 7396), unless it is absent. Null takes back what was set.
func (f *fields) patched(name string, read func(null bool)) {
	if f.err != nil {
		return
	}
	value := f.raw(name)
	if value == nil || f.isBlank(name, value) {
		return
	}
	read(value.Kind() == 'n')
}

// word reads one of some words, in any case, and gives it as it is written there.
func word[T ~string](f *fields, name string, words ...T) T {
	text, _ := f.text(name)
	var known []string
	for _, w := range words {
		if strings.EqualFold(text, string(w)) {
			return w
		}
		known = append(known, string(w))
	}
	f.fail(name, "must be "+strings.Join(known, " or "))
	return ""
}

// nested reads an object inside of another; its errors are those of the outer one.
func (f *fields) nested(name string, read func(inner *fields)) {
	value := decoded(f.get(name))
	if value == nil {
		return
	}
	object, err := parseObject(value)
	if err != nil || value.Kind() != '{' && value.Kind() != '[' {
		f.fail(name, "must be an object")
		return
	}
	object.path, object.form = f.path+name+".", f.form
	inner := &fields{object: object}
	read(inner)
	f.check(inner.err)
}

// errNothingNamed is for a patch that says nothing.
func errNothingNamed(members string) error {
	return fault.Invalid("", "The request changes nothing; name %s", members)
}
