// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// maxEntryBody bounds the body of an entry, in bytes. What may be sent without a credential is short, because it is held until
// it has arrived: the longest fields are a ticket, a token and a session. Only a participant may send more: a chat message.
const maxEntryBody = 16 << 10

// decode reads a JSON object of at most so many bytes into a struct. No body at all is an empty object, and unknown fields
// are ignored.
func decode(q *httpserver.Request, most int64, into any) error {
	body, err := q.Body(most)
	if err != nil {
		return err
	}
	return q.BodyError(decodeJSON(body, into))
}

// isEmptyArray says that a body is what PHP makes of an object without members.
func isEmptyArray(body []byte) bool {
	rest, opened := bytes.CutPrefix(body, []byte("["))
	rest, closed := bytes.CutSuffix(rest, []byte("]"))
	return opened && closed && len(bytes.TrimSpace(rest)) == 0
}

func decodeJSON(body []byte, into any) error {
	if body = bytes.TrimSpace(body); len(body) == 0 || isEmptyArray(body) {
		return nil
	}
	if body[0] != '{' {
		return fault.Invalid("", "The request must be a JSON object")
	}
	// Names count as they are written, and only once, so that nothing on the way here reads another room than we do.
	err := json.Unmarshal(body, into)
	if wrong := (*json.SemanticError)(nil); errors.As(err, &wrong) {
		field := strings.TrimPrefix(string(wrong.JSONPointer), "/")
		return fault.Invalid(field, "%s must not be a %s; correct its type", field, kindName(wrong.JSONKind))
	}
	if err != nil {
		return fault.Invalid("", "The request must be valid JSON in UTF-8, each name once; correct it")
	}
	return nil
}

// kindName is a JSON value's kind in words.
func kindName(k jsontext.Kind) string {
	switch k {
	case 't', 'f':
		return "bool"
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return k.String()
}
