// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// fields reads the members of an object one after the other. The first error stays, and everything read after it is
// zero; so it is asked for once, at the end.
type fields struct {
	object
	err error
}

// readFields reads the body of a request. No body at all is an empty object. A DELETE may have its members in the query, since some
// clients and proxies send no body with it.
func readFields(q *httpserver.Request) (*fields, error) {
	data, err := q.Body(httpserver.MaxBody)
	if err != nil {
		return nil, err
	}
	o, err := parseBody(q.HTTP.Header.Get("Content-Type"), data)
	if err != nil {
		return nil, q.BodyError(err)
	}
	if q.HTTP.Method == http.MethodDelete {
		query, err := parseForm([]byte(q.HTTP.URL.RawQuery))
		if err != nil {
			return nil, err
		}
		o.members = append(query.members, o.members...) // A name that is doubled counts where it is last.
	}
	return &fields{object: o}, nil
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

// get returns the value of a member, and nil for one that is absent, null or blank.
func (f *fields) get(name string) jsontext.Value {
	if f.err != nil {
		return nil
	}
	value := f.object.get(name)
	if f.isBlank(name, value) {
		return nil
	}
	return value
}

// isBlank reports whether a member is an empty string that counts as absent. Typed clients and forms send one for what was not filled
// in. Three members say something with it: the home page, no password, and nobody, which must not become everybody.
func (f *fields) isBlank(name string, value jsontext.Value) bool {
	switch name {
	case "redirect":
		return false
	case "roomPassword", "to":
		return f.form && string(value) == `""`
	}
	return string(value) == `""`
}

// text reads a string, or a number as its text, and whether it is there.
func (f *fields) text(name string) (string, bool) {
	value := f.get(name)
	if value == nil {
		return "", false
	}
	text, ok := compat.ReadText(value)
	if !ok {
		f.fail(name, "must be a string")
	}
	return text, ok
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

// flag reads a boolean, which may be written as a string in any case, or as a number.
func (f *fields) flag(name string, absent bool) bool {
	value := f.get(name)
	if value == nil {
		return absent
	}
	flag, ok := compat.ReadFlag(value)
	if !ok {
		f.fail(name, "must be true or false")
		return absent
	}
	return flag
}

// textUnlessNone reads a string, or a number as its text. Words for none are an empty string.
func (f *fields) textUnlessNone(name string) string {
	value := f.get(name)
	if compat.MeansNone(value) {
		return ""
	}
	text, ok := compat.ReadText(value)
	if !ok {
		f.fail(name, "must be a string, or false for none")
	}
	return text
}

// count reads a whole number from one to a greatest, and zero for none.
func (f *fields) count(name string, greatest int) int {
	value := f.get(name)
	if value == nil {
		return 0
	}
	n, err := strconv.Atoi(string(compat.Scalar(value)))
	if err != nil || n < 1 || n > greatest {
		f.fail(name, "must be a whole number from 1 to "+strconv.Itoa(greatest))
		return 0
	}
	return n
}
