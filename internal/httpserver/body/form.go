// SPDX-License-Identifier: Apache-2.0

package body

import (
	"bytes"
	"errors"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// isForm reports whether a body with that content type is a form and no JSON, which many clients send with the content type
// of a form because it is their default.
func isForm(contentType string, body []byte) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || kind != "application/x-www-form-urlencoded" {
		return false
	}
	text := bytes.TrimLeft(body, " \t\r\n\ufeff")
	return len(text) == 0 || !bytes.ContainsAny(text[:1], `{["`)
}

// mayBeBlank are the fields of forms that say something without a value: redirect is the home page, and to is no participant, who must not
// become everybody.
var mayBeBlank = []string{"redirect", "to"}

// formToJSON writes a form (application/x-www-form-urlencoded) as a JSON object whose values are strings. token[username] is
// the member username of the object token. Of several values of a name the last counts. Any other blank field was not filled in.
func formToJSON(form []byte) (jsontext.Value, error) {
	values, err := url.ParseQuery(string(form))
	if err != nil {
		return nil, errNotForm.Because(err)
	}
	object, nested := map[string]any{}, map[string]map[string]string{}
	for name, all := range values {
		value := all[len(all)-1]
		if value == "" && !slices.Contains(mayBeBlank, name) {
			continue
		}
		outer, inner, ok := cutMember(name)
		if !ok {
			object[name] = value
			continue
		}
		if nested[outer] == nil {
			nested[outer] = map[string]string{}
		}
		nested[outer][inner] = value
	}
	for outer, members := range nested {
		object[outer] = members
	}
	out, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return nil, errNotForm.Because(err) // It is not UTF-8.
	}
	return out, nil
}

// cutMember takes token[username] apart.
func cutMember(name string) (outer, inner string, ok bool) {
	outer, rest, found := strings.Cut(name, "[")
	inner, closed := strings.CutSuffix(rest, "]")
	return outer, inner, found && closed && outer != "" && inner != "" && !strings.ContainsAny(inner, "[]")
}
