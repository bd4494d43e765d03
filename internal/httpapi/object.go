// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/fault"
)

// object is a JSON object of a request: its members in order, still encoded. null members are not in it.
type object struct {
	members []member
	// path of the object in the body: empty, or a member's name and a dot.
	path string
	// form says that the body is a form, in which every value is a string.
	form bool
}

type member struct{ name, value jsontext.Value }

var (
	errNotJSON   = fault.Invalid("", "The body must be valid JSON in UTF-8; correct it")
	errNotObject = fault.Invalid("", `The body must be a JSON object, for example {"room":"stand-up"}`)
)

var byteOrderMark = []byte("\xef\xbb\xbf")

var errNotForm = fault.Invalid("", "The form, or the query, must be encoded as application/x-www-form-urlencoded in UTF-8; correct it, or send JSON")

// parseBody reads the object in a body: a form, or JSON whatever the content type says.
func parseBody(contentType string, data []byte) (object, error) {
	if !compat.IsForm(contentType, data) {
		return parseObject(data)
	}
	return parseForm(data)
}

func parseForm(data []byte) (object, error) {
	data, err := compat.FormToJSON(data)
	if err != nil {
		return object{}, errNotForm.Because(err)
	}
	o, err := parseObject(data)
	o.form = true
	return o, err
}

// parseObject reads one JSON object. Nothing, null, an empty array (which is how PHP encodes an object without members) and a
// byte order mark are taken for what was meant. A name that is doubled counts where it is last. The object keeps a part of data.
func parseObject(data []byte) (object, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if len(bytes.Trim(data, " \t\r\n")) == 0 {
		return object{}, nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	var o object
	var err error
	switch d.PeekKind() {
	case '{':
		o, err = readMembers(d, data)
	case 'n':
		_, err = d.ReadToken()
	case '[':
		err = readEmptyArray(d)
	default:
		if err = d.SkipValue(); err == nil {
			err = errNotObject
		}
	}
	if err == nil {
		err = atEnd(d)
	}
	if err != nil && !errors.Is(err, errNotObject) {
		err = errNotJSON.Because(err)
	}
	return o, err
}

// decoded returns the object in a text that begins with a brace, which a client has encoded twice, and any other value as it is.
func decoded(value jsontext.Value) jsontext.Value {
	if value.Kind() == '"' {
		if text := compat.Content(value); bytes.HasPrefix(text, []byte("{")) {
			return text
		}
	}
	return value
}

// readEmptyArray refuses an array with elements.
func readEmptyArray(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err == nil && len(bytes.Trim(value[1:len(value)-1], " \t\r\n")) > 0 {
		err = errNotObject
	}
	return err
}

func readMembers(d *jsontext.Decoder, data []byte) (object, error) {
	if _, err := d.ReadToken(); err != nil {
		return object{}, err
	}
	o := object{members: make([]member, 0, 16)}
	for d.PeekKind() != '}' {
		name, err := readValue(d, data)
		if err != nil {
			return object{}, err
		}
		value, err := readValue(d, data)
		if err != nil {
			return object{}, err
		}
		o.members = append(o.members, member{name, value})
	}
	_, err := d.ReadToken()
	return o, err
}

// readValue reads a name or a value. What the decoder returns is good until it reads on; the same bytes of data stay.
func readValue(d *jsontext.Decoder, data []byte) (jsontext.Value, error) {
	value, err := d.ReadValue()
	end := d.InputOffset()
	return data[end-int64(len(value)) : end], err
}

func atEnd(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("more than one value"), err)
	}
	return nil
}

// get returns the value of a member, and nil for one that is absent or null.
func (o *object) get(name string) jsontext.Value {
	value := o.raw(name)
	if value.Kind() == 'n' {
		return nil
	}
	return value
}

// raw returns the value of a member, null too, and nil for one that is absent.
func (o *object) raw(name string) jsontext.Value {
	for i := len(o.members) - 1; i >= 0; i-- {
		if m := &o.members[i]; string(compat.Content(m.name)) == name {
			return m.value
		}
	}
	return nil
}
