// SPDX-License-Identifier: Apache-2.0

package body

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/fault"
)

// Problem names the mistake in a member. It follows the name of the member in an error: "must be true or false".
type Problem string

func (p Problem) Error() string { return string(p) }

// Invalid is the error of a member with a problem.
func Invalid(name, problem string, args ...any) error {
	return fault.Invalid(name, "%s %s", name, fmt.Sprintf(problem, args...))
}

// asFault names the member that an error is about as a path: token.username. The value is never repeated. An error that is about none is
// otherwise.
func asFault(err error, otherwise *fault.Error) error {
	if f := (*fault.Error)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	var path []string
	var wrong *json.SemanticError
	for at := err; errors.As(at, &wrong); at = wrong.Err {
		for name := range wrong.JSONPointer.Tokens() {
			path = append(path, name)
		}
	}
	name := strings.Join(path, ".")
	switch problem := Problem(""); {
	case errors.As(err, &problem):
		return Invalid(name, "%s", string(problem))
	case wrong != nil:
		return Invalid(name, "must not be a %s; correct its type", kindName(wrong.JSONKind))
	}
	return otherwise.Because(err)
}

// insideError keeps the path of a member in an object apart from the path of the object, which package json puts around it.
type insideError struct{ error }

func (e insideError) Unwrap() error { return e.error }

func within(err error) error {
	if err == nil {
		return nil
	}
	return insideError{err}
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
