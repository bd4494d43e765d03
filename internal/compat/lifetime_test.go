// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lifetimes are held against the npm package ms.
var lifetimes = []string{
	"1h", "90s", "30 minutes", "2 days", "1y", "1.5h", ".5h", "01h", "1 Hour", "2.3h", "10  mins", "1yr", "3 yrs", "4 weeks", "1W", "250msecs", "1500 ms",
	"1 second", "2 hrs", "0s", "0.1y", "1hour", "5 Min", "7 DAYS",
}

// refusedLifetimes are not read, whatever ms makes of them.
var refusedLifetimes = map[string]string{
	"empty": "", "no unit": "3600", "no number": "h", "negative": "-1h", "a sign": "+1h", "two parts": "1h30m", "two parts with a space": "1 h 30 m",
	"space before": " 1h", "space behind": "1h ", "a tab": "1\th", "other digits": "١h", "a dot at the end": "1.h", "two dots": "1.2.3h", "a word": "1 fortnight",
	"a month": "1mo", "an exponent": "1e3s", "hexadecimal": "0x1h", "an underscore": "1_0h", "a comma": "1,5h", "a line break": "1h\n",
	"beyond a Duration": "300y", "far beyond": strings.Repeat("9", 90) + "h", "too long": strings.Repeat("0", 100) + "1h",
}

func TestLifetimesAreThoseOfMS(t *testing.T) {
	var want []float64
	oracle(t, `const ms = require('ms'); console.log(JSON.stringify(JSON.parse(input).map((text) => ms(text))))`, lifetimes, &want)
	for i, text := range lifetimes {
		got, ok := ParseLifetime(text)
		seconds := time.Duration(want[i]*float64(time.Millisecond) + 0.5).Round(time.Millisecond).Truncate(time.Second)
		if !ok || got != seconds {
			t.Errorf("%q is %s, %v; ms says %s", text, got, ok, seconds)
		}
	}
}

func TestRefusedLifetimes(t *testing.T) {
	for reason, text := range refusedLifetimes {
		if got, ok := ParseLifetime(text); ok {
			t.Errorf("%s: %q is read as %s", reason, text, got)
		}
	}
}

func FuzzParseLifetime(f *testing.F) {
	for _, text := range lifetimes {
		f.Add(text)
	}
	for _, text := range refusedLifetimes {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := ParseLifetime(text)
		if ok && (d < 0 || d%time.Second != 0 || text[0] == '-') {
			t.Errorf("%q is %s", text, d)
		}
		if again, _ := ParseLifetime(strconv.FormatInt(int64(d/time.Second), 10) + "s"); ok && again != d {
			t.Errorf("%q is %s, and its seconds are %s", text, d, again)
		}
	})
}

func TestFormToJSON(t *testing.T) {
	for _, tc := range []struct{ reason, form, want string }{
		{"what express.urlencoded reads", "room=stand-up&name=Ada+Lovelace&audio=1&chat=false", `{"audio":"1","chat":"false","name":"Ada Lovelace","room":"stand-up"}`},
		{"nothing", "", `{}`},
		{"an object", "room=a&token[username]=ada&token%5Bpresenter%5D=true", `{"room":"a","token":{"presenter":"true","username":"ada"}}`},
		{"an object wins over a value", "token=x&token[username]=ada", `{"token":{"username":"ada"}}`},
		{"the last of several counts", "room=a&room=b", `{"room":"b"}`},
		{"no value", "room&name=", `{"name":"","room":""}`},
		{"what needs an escape", "name=%22%5C%0A%26%3D", `{"name":"\"\\\n&="}`},
		{"brackets that are no object", "a[]=1&[b]=2&c[d][e]=3&f]=4", `{"[b]":"2","a[]":"1","c[d][e]":"3","f]":"4"}`},
	} {
		got, err := FormToJSON([]byte(tc.form))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %s, %v\nwant %s", tc.reason, got, err, tc.want)
		}
	}
	for _, form := range []string{"room=%", "room=%zz", "a=1;b=2", "room=%ff", "%ff=1", "token[%ff]=1"} {
		if got, err := FormToJSON([]byte(form)); err == nil {
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
		{form, `{"room":"a"}`, false}, {form, "\ufeff [ ]", false}, {form, `"a"`, false}, {"", "room=a", false}, {"application/json", "room=a", false}, {"text/plain", "room=a", false},
	} {
		if got := IsForm(tc.contentType, []byte(tc.body)); got != tc.want {
			t.Errorf("%q with %q: %v", tc.contentType, tc.body, got)
		}
	}
}

func FuzzFormToJSON(f *testing.F) {
	for _, form := range []string{"room=a&name=b", "token[username]=u", "a=%", "a[b][c]=d", "=", "&&", "a=%ff"} {
		f.Add(form)
	}
	f.Fuzz(func(t *testing.T, form string) {
		out, err := FormToJSON([]byte(form))
		if err == nil && !json.Valid(out) {
			t.Errorf("%q became %s", form, out)
		}
	})
}
