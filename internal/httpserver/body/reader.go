// SPDX-License-Identifier: Apache-2.0

package body

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

var (
	errNotJSON   = fault.Invalid("", "The body must be valid JSON in UTF-8; correct it")
	errNotObject = fault.Invalid("", `The body must be a JSON object, for example {"room":"stand-up"}`)
	errNotForm   = fault.Invalid("", "The form, or the query, must be encoded as application/x-www-form-urlencoded in UTF-8; correct it, or send JSON")
)

// Reader reads JSON objects into structs. Its zero value is of no use.
type Reader struct {
	options json.Options
}

// Lenient returns a Reader for backends. A boolean may be text or a number, text may be a number, a member that is blank or null is absent, a
// doubled name counts where it is last, and a form is as good as JSON. The unmarshalers are for further types; see As.
func Lenient(more ...*json.Unmarshalers) *Reader {
	all := append(more, As(flag), As(text), As(count), As(ReadOrNone))
	return &Reader{json.JoinOptions(jsontext.AllowDuplicateNames(true), json.WithUnmarshalers(json.JoinUnmarshalers(all...)))}
}

// Decode reads the body of a request into a struct, which has the values of absent members before. No body at all is an empty object. A DELETE
// may have its members in the query, since some clients and proxies send no body with it. The same member in the body counts, unless it is null.
// Unknown members are ignored. Errors are of package fault, and do not repeat a value: it may be a secret.
func (r *Reader) Decode(q *httpserver.Request, into any) error {
	data, err := q.Body(httpserver.MaxBody)
	if err != nil {
		return err
	}
	object, err := objectIn(q.HTTP.Header.Get("Content-Type"), data)
	if err == nil && q.HTTP.Method == http.MethodDelete {
		object, err = withQuery(q.HTTP.URL.RawQuery, object)
	}
	if err == nil {
		err = unmarshal(object, into, r.options)
	}
	return q.BodyError(asFault(err, errNotJSON))
}

var (
	errNotStrictObject = fault.Invalid("", "The request must be a JSON object")
	errNotStrictJSON   = fault.Invalid("", "The request must be valid JSON in UTF-8, each name once; correct it")
)

// nullIsAbsent leaves a boolean as it was.
var nullIsAbsent = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ *bool) error {
	if d.PeekKind() == 'n' {
		return d.SkipValue()
	}
	return json.SkipFunc
}))

// DecodeStrictly reads a JSON object of at most so many bytes into a struct, as the page writes it. Names count as they are written, and only
// once, so that nothing on the way here reads another room than we do. Otherwise it is as Reader.Decode.
func DecodeStrictly(q *httpserver.Request, most int64, into any) error {
	data, err := q.Body(most)
	if err != nil {
		return err
	}
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0 || isEmptyArray(data):
	case data[0] != '{':
		err = errNotStrictObject
	default:
		err = asFault(json.Unmarshal(data, into, nullIsAbsent), errNotStrictJSON)
	}
	return q.BodyError(err)
}

// objectIn returns the object in a body: a form, or JSON whatever the content type says.
func objectIn(contentType string, data []byte) (jsontext.Value, error) {
	if isForm(contentType, data) {
		return formToJSON(data)
	}
	return object(data)
}

func withQuery(query string, object jsontext.Value) (jsontext.Value, error) {
	if query == "" {
		return object, nil
	}
	members, err := formToJSON([]byte(query))
	if err != nil {
		return nil, err
	}
	return join(members, object)
}

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	emptyObject   = jsontext.Value("{}")
)

// object returns the JSON object in data, behind a byte order mark or not. Nothing, null and an empty array are an empty object: PHP encodes
// an object without members as an array.
func object(data []byte) (jsontext.Value, error) {
	data = bytes.Trim(bytes.TrimPrefix(data, byteOrderMark), " \t\r\n")
	if len(data) == 0 {
		return emptyObject, nil
	}
	if data[0] == '{' {
		return data, nil // Whether it is whole, unmarshal finds out.
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	value, err := d.ReadValue()
	switch {
	case err != nil:
		return nil, errNotJSON.Because(err)
	case value.Kind() != 'n' && !isEmptyArray(value):
		return nil, errNotObject
	case d.InputOffset() < int64(len(data)):
		return nil, errNotJSON
	}
	return emptyObject, nil
}

func isEmptyArray(value []byte) bool {
	rest, opened := bytes.CutPrefix(value, []byte("["))
	rest, closed := bytes.CutSuffix(rest, []byte("]"))
	return opened && closed && len(bytes.TrimSpace(rest)) == 0
}

// join returns one object with the members of all. A doubled name counts where it is last. Null stands for no value of another object.
func join(objects ...jsontext.Value) (jsontext.Value, error) {
	all := map[string]jsontext.Value{}
	for _, o := range objects {
		members := map[string]jsontext.Value{}
		if err := json.Unmarshal(o, &members, jsontext.AllowDuplicateNames(true)); err != nil {
			return nil, err
		}
		for name, value := range members {
			if value.Kind() != 'n' || all[name] == nil {
				all[name] = value
			}
		}
	}
	return json.Marshal(all, jsontext.AllowDuplicateNames(true), json.Deterministic(true))
}

// unmarshal reads an object without its doubled names.
func unmarshal(object jsontext.Value, into any, o json.Options) error {
	if !object.IsValid() {
		var err error
		if object, err = join(object); err != nil {
			return err
		}
	}
	return json.Unmarshal(object, into, o)
}

// Object reads a member that is an object, or the text of an object, because some clients encode it twice. Any other value has the problem.
// The options belong to the decoder of the value.
func Object(value jsontext.Value, into any, o json.Options, problem Problem) error {
	value = decoded(value)
	if kind := value.Kind(); kind != '{' && kind != '[' {
		return problem
	}
	value, err := object(value)
	if err == nil {
		err = unmarshal(value, into, o)
	}
	if wrong := (*json.SemanticError)(nil); err == nil || errors.As(err, &wrong) {
		return within(err)
	}
	return problem
}

// decoded returns the object in a text that begins with a brace, and any other value as it is.
func decoded(value jsontext.Value) jsontext.Value {
	if value.Kind() == '"' {
		if text := compat.Content(value); bytes.HasPrefix(text, []byte("{")) {
			return text
		}
	}
	return value
}
