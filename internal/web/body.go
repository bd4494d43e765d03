// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"convene.dev/convene/internal/fault"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 64 << 10

// decode reads a JSON object into a struct. No body at all is an empty object, and unknown fields are ignored.
func decode(v *visit, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(v.w, v.r.Body, maxBody))
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

func decodeJSON(body []byte, into any) error {
	if body = bytes.TrimSpace(body); len(body) == 0 {
		return nil
	}
	if body[0] != '{' {
		return fault.Invalid("", "The request must be a JSON object")
	}
	err := json.Unmarshal(body, into)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fault.Invalid(wrong.Field, "%s must not be a %s; correct its type", wrong.Field, wrong.Value)
	}
	if err != nil {
		return fault.Invalid("", "The request must be valid JSON; correct it")
	}
	return nil
}
