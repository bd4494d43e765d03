// SPDX-License-Identifier: Apache-2.0

package body

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/compat"
)

// As reads a value of a type, and is not asked for null and for an empty string: they leave the value as it was. Its error should be a
// Problem, or of package fault.
func As[T any](read func(jsontext.Value) (T, error)) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, into *T) error {
		value, err := d.ReadValue()
		if err != nil || isNothing(value) {
			return err
		}
		got, err := read(value)
		if err == nil {
			*into = got
		}
		return err
	})
}

func isNothing(value jsontext.Value) bool { return value.Kind() == 'n' || string(value) == `""` }

// Optional is a member that may be absent: of a JSON merge patch (RFC 7396), or with a zero value that says something.
type Optional[T any] struct {
	// Set reports whether the member is there. An empty string is none, unless T is string.
	Set bool
	// Null reports whether it is null, which takes back what was set.
	Null  bool
	Value T
}

// UnmarshalJSONFrom reads a member that is there.
func (o *Optional[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch _, isText := any(o.Value).(string); {
	case value.Kind() == 'n':
		o.Set, o.Null = true, true
	case isText || !isNothing(value):
		o.Set = true
		err = within(json.Unmarshal(value, &o.Value, d.Options()))
	}
	return err
}

// Pointer returns the value, and nil for null and for a member that is not there.
func (o Optional[T]) Pointer() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// Named returns the names of the members of a struct that a request sets.
func Named(request any) (names []string) {
	v := reflect.ValueOf(request)
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); !v.Field(i).IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// Count is a whole number. What is none is zero: the rule that names the least and the greatest refuses it.
type Count int32

func count(value jsontext.Value) (Count, error) {
	n, err := strconv.ParseInt(string(compat.Scalar(value)), 10, 32)
	if err != nil {
		n = 0
	}
	return Count(n), nil
}

// OrNone is text. Words for none are an empty one.
type OrNone string

// ReadOrNone reads text, or a word for none.
func ReadOrNone(value jsontext.Value) (OrNone, error) {
	if compat.MeansNone(value) {
		return "", nil
	}
	text, ok := compat.ReadText(value)
	if !ok {
		return "", Problem("must be a string, or false for none")
	}
	return OrNone(text), nil
}

func text(value jsontext.Value) (string, error) {
	text, ok := compat.ReadText(value)
	if !ok {
		return "", Problem("must be a string")
	}
	return text, nil
}

func flag(value jsontext.Value) (bool, error) {
	flag, ok := compat.ReadFlag(value)
	if !ok {
		return false, Problem("must be true or false")
	}
	return flag, nil
}

// Word reads one of some words, in any case.
func Word[T ~string](words ...T) *json.Unmarshalers {
	return As(func(value jsontext.Value) (T, error) {
		said, err := text(value)
		if err != nil {
			return "", err
		}
		known := make([]string, len(words))
		for i, word := range words {
			if strings.EqualFold(said, string(word)) {
				return word, nil
			}
			known[i] = string(word)
		}
		return "", Problem("must be " + strings.Join(known, " or "))
	})
}
