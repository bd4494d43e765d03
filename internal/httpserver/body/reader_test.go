// SPDX-License-Identifier: Apache-2.0

package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// everything is a request with a member of each type.
type everything struct {
	Flag     bool             `json:"flag"`
	Text     string           `json:"text"`
	Count    Optional[Count]  `json:"count"`
	Password *OrNone          `json:"password"`
	Redirect Optional[string] `json:"redirect"`
	Locked   Optional[bool]   `json:"locked"`
	Word     Optional[word]   `json:"word"`
	Inner    inner            `json:"inner"`
}

type word string

type inner struct {
	Flag Optional[bool] `json:"flag"`
	Text string         `json:"text"`
}

func (i *inner) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	type plain inner
	return Object(value, (*plain)(i), d.Options(), "must be an object")
}

var lenient = Lenient(Word[word]("One", "Two"))

func decode(method, contentType, target, text string) (everything, error) {
	r := httptest.NewRequest(method, target, strings.NewReader(text))
	r.Header.Set("Content-Type", contentType)
	got := everything{Flag: true}
	err := lenient.Decode(&httpserver.Request{HTTP: r, ResponseWriter: httptest.NewRecorder()}, &got)
	return got, err
}

func TestDecode(t *testing.T) {
	const asJSON, asForm = "application/json", "application/x-www-form-urlencoded"
	for _, tc := range []struct {
		reason, method, contentType, query, text string
		want                                     everything
		wantErr                                  string
	}{
		{reason: "nothing", want: everything{Flag: true}},
		{reason: "other spellings", text: `{"flag":"False","text":7.0,"count":"5","password":"None","word":"TWO","locked":1,"inner":{"flag":0,"text":"a"}}`, want: everything{
			Text: "7", Count: Optional[Count]{Set: true, Value: 5}, Password: new(OrNone("")), Word: Optional[word]{Set: true, Value: "Two"},
			Locked: Optional[bool]{Set: true, Value: true}, Inner: inner{Flag: Optional[bool]{Set: true}, Text: "a"},
		}},
		{reason: "blank", text: `{"flag":"","text":"","count":"","password":"","redirect":"","locked":"","word":""}`, want: everything{
			Flag: true, Password: new(OrNone("")), Redirect: Optional[string]{Set: true},
		}},
		{reason: "null", text: `{"flag":null,"text":null,"count":null,"password":null,"redirect":null,"locked":null,"word":null}`, want: everything{
			Flag: true, Count: Optional[Count]{Set: true, Null: true}, Redirect: Optional[string]{Set: true, Null: true}, Locked: Optional[bool]{Set: true, Null: true},
			Word: Optional[word]{Set: true, Null: true},
		}},
		{reason: "doubled names", text: `{"flag":[],"text":"a","flag":false,"text":null,"inner":7,"inner":{"text":[],"text":"b"}}`, want: everything{Inner: inner{Text: "b"}}},
		{reason: "an object as text", text: `{"inner":"{\"text\":\"a\"}"}`, want: everything{Flag: true, Inner: inner{Text: "a"}}},
		{reason: "no whole number", text: `{"count":1.5}`, want: everything{Flag: true, Count: Optional[Count]{Set: true}}},
		{reason: "a form", contentType: asForm, text: "flag=0&text=a+b&count=&password=&redirect=&inner[flag]=true", want: everything{
			Text: "a b", Redirect: Optional[string]{Set: true}, Inner: inner{Flag: Optional[bool]{Set: true, Value: true}},
		}},
		{reason: "a query of a DELETE, and a body", method: http.MethodDelete, query: "text=a&flag=wrong&redirect=b", text: `{"flag":false,"redirect":null}`, want: everything{
			Text: "a", Redirect: Optional[string]{Set: true, Value: "b"},
		}},
		{reason: "a query of a POST", query: "text=a", want: everything{Flag: true}},
		{reason: "a wrong type", text: `{"text":[]}`, wantErr: "text must be a string"},
		{reason: "a wrong type in an optional member", text: `{"locked":"maybe"}`, wantErr: "locked must be true or false"},
		{reason: "a wrong type in an object", text: `{"inner":{"flag":"maybe"}}`, wantErr: "inner.flag must be true or false"},
		{reason: "a wrong type in an object as text", text: `{"inner":"{\"flag\":\"maybe\"}"}`, wantErr: "inner.flag must be true or false"},
		{reason: "another word", text: `{"word":"three"}`, wantErr: "word must be One or Two"},
		{reason: "no object", text: `{"inner":"{"}`, wantErr: "inner must be an object"},
		{reason: "no JSON behind a wrong type", text: `{"flag":[],}`, wantErr: errNotJSON.Message},
		{reason: "a list", text: `[1]`, wantErr: errNotObject.Message},
		{reason: "a form that is none", contentType: asForm, text: `text=%zz`, wantErr: errNotForm.Message},
	} {
		if tc.method == "" {
			tc.method = http.MethodPost
		}
		if tc.contentType == "" {
			tc.contentType = asJSON
		}
		got, err := decode(tc.method, tc.contentType, "/?"+tc.query, tc.text)
		if tc.wantErr != "" {
			if err == nil || !fault.Is(err, fault.KindInvalid) || fault.As(err).Message != tc.wantErr {
				t.Errorf("%s: %v, want %s", tc.reason, err, tc.wantErr)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
		}
	}
}

// FuzzDecode holds the objects that are read against the standard library's.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", " ", "null", "{}", "[]", `"x"`, "\xef\xbb\xbf{}", `{"a":1,"a":null,"b":{"c":[1,2,{"d":"\u00fc"}]}}`, `{"\u0061":1}`,
		"{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{"a":1}{}`, `{"a":1} x`, `{"a"`, `{"a":1,}`, `{"a":01}`, `{"a":1e999}`, strings.Repeat("[", 11000),
		`{"flag":"TRUE","text":1,"inner":"{}","locked":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		given := bytes.Clone(data)
		if _, err := decode(http.MethodPost, "application/json", "/", string(data)); err != nil && !fault.Is(err, fault.KindInvalid) {
			t.Fatalf("%q: %v", data, err)
		}
		o, err := object(data)
		got := map[string]jsontext.Value{}
		if err == nil {
			err = unmarshal(o, &got, lenient.options)
		}
		if !bytes.Equal(given, data) {
			t.Fatalf("changed %q to %q", given, data)
		}
		var want map[string]any
		plain := bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))
		wantErr := unmarshalPlainly(plain, &want)
		if err != nil {
			// Ours is the stricter one about text, not about anything else.
			if wantErr == nil && utf8.Valid(data) && !bytes.Contains(data, []byte(`\u`)) {
				t.Fatalf("%q is refused: %v", data, err)
			}
			return
		}
		emptyArray := len(got) == 0 && bytes.HasPrefix(plain, []byte("["))
		if wantErr != nil && len(plain) > 0 && !emptyArray {
			t.Fatalf("%q passes: %v", data, wantErr)
		}
		for name, value := range want {
			var read any
			if err := unmarshalPlainly(got[name], &read); err != nil || !cmp.Equal(value, read) {
				t.Fatalf("%q of %q is %s, want %v: %v", name, data, got[name], value, err)
			}
		}
	})
}

// unmarshalPlainly is of the standard library, and leaves numbers as they are written.
func unmarshalPlainly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// FuzzFlag: a boolean is one of eight spellings, the words in any case, or it is refused; nothing else is taken for either.
func FuzzFlag(f *testing.F) {
	for _, seed := range []string{`true`, `"true"`, `"TRUE"`, `""`, `1`, `1.0`, `"1"`, `false`, `"false"`, `0`, `-0`, `"0"`, `null`, `"yes"`, `2`, `1e0`, `[true]`, `{}`, `"\u0031"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var plain any
		if json.Unmarshal([]byte(`{"x":`+value+`}`), &struct{ X *any }{&plain}) != nil || !jsontext.Value(value).IsValid() {
			return
		}
		got, err := decode(http.MethodPost, "application/json", "/", `{"flag":`+value+`}`)
		if text, ok := plain.(string); ok && len(text) <= len("false") {
			plain = strings.ToLower(text)
		}
		switch plain {
		case true, "true", "1", 1.0, nil, "":
			if !got.Flag || err != nil {
				t.Errorf("%s is %v, %v", value, got.Flag, err)
			}
		case false, "false", "0", 0.0:
			if got.Flag || err != nil {
				t.Errorf("%s is %v, %v", value, got.Flag, err)
			}
		default:
			if !fault.Is(err, fault.KindInvalid) {
				t.Errorf("%s is %v, %v", value, got.Flag, err)
			}
		}
	})
}
