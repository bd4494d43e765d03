// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/fault"

	"convene.dev/convene/internal/httpserver"
)

// fields reads the members of an object one after the other. The first error stays, and everything read after it is
// zero; so it is asked for once, at the end.
type fields struct {
	object
	err error
}

// readFields reads the body of a request. No body at all is an empty object.
func readFields(q *httpserver.Request) (*fields, error) {
	data, err := q.Body(httpserver.MaxBody)
	if err != nil {
		return nil, err
	}
	o, err := parseBody(q.HTTP.Header.Get("Content-Type"), data)
	return &fields{object: o}, err
}

// fail keeps the first error of a member. The value is never repeated: it may be a secret.
func (f *fields) fail(name, problem string) {
	if f.err == nil {
		name = f.path + name
		f.err = fault.Invalid(name, "%s %s", name, problem)
	}
}

// check keeps an error that a rule outside has found.
func (f *fields) check(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *fields) get(name string) jsontext.Value {
	if f.err != nil {
		return nil
	}
	value := f.object.get(name)
	if f.form && name != blankCounts && string(value) == `""` {
		return nil
	}
	return value
}

// blankCounts is the one field whose blank value in a form says something: the home page. A form sends all others blank that
// were not filled in.
const blankCounts = "redirect"

// text reads a string, and whether it is there.
func (f *fields) text(name string) (string, bool) {
	value := f.get(name)
	if value == nil {
		return "", false
	}
	if value.Kind() != '"' {
		f.fail(name, "must be a string")
		return "", false
	}
	return string(content(value)), true
}

// texts reads a list of strings.
func (f *fields) texts(name string) (all []string) {
	value := f.get(name)
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(value, &all); err != nil {
		f.fail(name, "must be a list of strings")
		return nil
	}
	return all
}

// seconds reads a string, or a JSON number as a string that says that it is in seconds.
func (f *fields) seconds(name string) (string, bool) {
	if value := f.get(name); value != nil && value.Kind() == '0' {
		return string(value) + "s", true
	}
	return f.text(name)
}

// flag reads a boolean, which may be written as a string or a number.
func (f *fields) flag(name string, absent bool) bool {
	value := f.get(name)
	if value == nil {
		return absent
	}
	switch string(scalar(value)) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	}
	f.fail(name, "must be true or false")
	return absent
}

// textUnlessNone reads a string in whose place false, however it is written, and an empty one mean none.
func (f *fields) textUnlessNone(name string) string {
	value := f.get(name)
	if value == nil {
		return ""
	}
	text := string(scalar(value))
	switch {
	case text == "false" || text == "0":
		return ""
	case value.Kind() == '"':
		return text
	}
	f.fail(name, "must be a string, or false for none")
	return ""
}

// count reads a whole number from one to a greatest, and zero for none.
func (f *fields) count(name string, greatest int) int {
	value := f.get(name)
	if value == nil {
		return 0
	}
	n, err := strconv.Atoi(string(scalar(value)))
	if err != nil || value.Kind() != '0' && !f.form || n < 1 || n > greatest {
		f.fail(name, "must be a whole number from 1 to "+strconv.Itoa(greatest))
		return 0
	}
	return n
}

// scalar is a string's content, a number in its shortest form when it is a whole one, or any other value as written.
func scalar(value jsontext.Value) []byte {
	switch value.Kind() {
	case '"':
		return content(value)
	case '0':
		if n, err := strconv.ParseFloat(string(value), 64); err == nil && n == float64(int32(n)) {
			return strconv.AppendInt(nil, int64(n), 10)
		}
	}
	return value
}

// content is what a string of a valid document holds: the bytes of the document where nothing in them is escaped.
func content(value jsontext.Value) []byte {
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, value)
	return text
}
