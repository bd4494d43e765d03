// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/fault"
)

// Bounds of a request's body, in bytes. What may be sent without a credential is short, because it is held until it has arrived: the longest
// fields of an entry are a ticket, a token and a session. Only a participant may send more: a chat message.
const (
	maxEntryBody = 16 << 10
	maxBody      = 64 << 10
)

// decode reads a JSON object of at most so many bytes into a struct. No body at all is an empty object, and unknown fields
// are ignored.
func decode(v *visit, most int64, into any) error {
	body, err := readBody(v, most)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return &refusal{
			fault:  fault.Invalid("", "The request must be at most %d bytes long; shorten it", tooLarge.Limit),
			status: http.StatusRequestEntityTooLarge,
		}
	}
	if err != nil {
		return fault.Invalid("", "The request broke off; send it again").Because(err)
	}
	return decodeJSON(body, into)
}

// readBody holds no more memory than the body has. A buffer that grows takes up to four times as much.
func readBody(v *visit, most int64) ([]byte, error) {
	limited := http.MaxBytesReader(v.w, v.r.Body, most)
	if n := v.r.ContentLength; n >= 0 && n <= most {
		body := make([]byte, n)
		_, err := io.ReadFull(limited, body)
		return body, err
	}
	return io.ReadAll(limited)
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
