// SPDX-License-Identifier: Apache-2.0

package body

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFormToJSON(t *testing.T) {
	for _, tc := range []struct{ reason, form, want string }{
		{"what express.urlencoded reads", "room=stand-up&name=Ada+Lovelace&audio=1&chat=false", `{"audio":"1","chat":"false","name":"Ada Lovelace","room":"stand-up"}`},
		{"nothing", "", `{}`},
		{"an object", "room=a&token[username]=ada&token%5Bpresenter%5D=true", `{"room":"a","token":{"presenter":"true","username":"ada"}}`},
		{"an object wins over a value", "token=x&token[username]=ada", `{"token":{"username":"ada"}}`},
		{"the last of several counts", "room=a&room=b", `{"room":"b"}`},
		{"no value", "room&name=", `{}`}, {"the home page", "redirect=", `{"redirect":""}`}, {"nobody", "to=", `{"to":""}`},
		{"what needs an escape", "name=%22%5C%0A%26%3D", `{"name":"\"\\\n&="}`},
		{"brackets that are no object", "a[]=1&[b]=2&c[d][e]=3&f]=4", `{"[b]":"2","a[]":"1","c[d][e]":"3","f]":"4"}`},
	} {
		got, err := formToJSON([]byte(tc.form))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %s, %v\nwant %s", tc.reason, got, err, tc.want)
		}
	}
	for _, form := range []string{"room=%", "room=%zz", "a=1;b=2", "room=%ff", "%ff=1", "token[%ff]=1"} {
		if got, err := formToJSON([]byte(form)); err == nil {
			t.Errorf("%q is read as %s", form, got)
		}
	}
}

func TestIsForm(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	for _, tc := range []struct {
		contentType, body string
		want              bool
	}{
		{form, "room=a", true}, {form + "; charset=UTF-8", "room=a", true}, {"Application/X-WWW-Form-URLEncoded", "room=a", true}, {form, "", true},
		{form, `{"room":"a"}`, false}, {form, "\ufeff [ ]", false}, {form, strings.Repeat(" \r\n", 1000) + "{}", false}, {form, `"a"`, false}, {"", "room=a", false}, {"application/json", "room=a", false}, {"text/plain", "room=a", false},
	} {
		if got := isForm(tc.contentType, []byte(tc.body)); got != tc.want {
			t.Errorf("%q with %q: %v", tc.contentType, tc.body, got)
		}
	}
}

func FuzzFormToJSON(f *testing.F) {
	for _, form := range []string{"room=a&name=b", "token[username]=u", "a=%", "a[b][c]=d", "=", "&&", "a=%ff"} {
		f.Add(form)
	}
	f.Fuzz(func(t *testing.T, form string) {
		out, err := formToJSON([]byte(form))
		if err == nil && !json.Valid(out) {
			t.Errorf("%q became %s", form, out)
		}
	})
}
