// SPDX-License-Identifier: Apache-2.0

// Package golden compares the answers to many requests with the answers of an earlier build, so that a new decoder changes no answer
// without a row in a diff.
package golden

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"convene.dev/convene/internal/httpserver"
)

// Body is the body of a request, with its headers and its query.
type Body struct {
	// Name is of the class of bodies, or shows the member that is not as in the others.
	Name   string
	Header http.Header
	// Query of the URL, without the question mark.
	Query string
	Text  string
}

// Shape describes a request.
type Shape struct {
	// Whole is a JSON object that is taken.
	Whole string
	// Members are the names of all members, each with further values, in JSON, that mean something in it.
	Members map[string][]string
	// Most is the bound of the body in bytes; zero means httpserver.MaxBody.
	Most int
}

const (
	contentType = "Content-Type"
	form        = "application/x-www-form-urlencoded"
	mark        = "\xef\xbb\xbf"
)

// values are for any member: of each type, blank, and the spellings that clients have of nothing, of truth values and of numbers.
var values = []string{
	`null`, `""`, `" "`, `true`, `false`, `"true"`, `"FALSE"`, `0`, `1`, `7`, `"7"`, `1.5`, `2.0`, `-1`, `1e400`, `12345678901234567890`,
	`"text"`, `"a\tb"`, `"a\u0000b"`, `"\ud83d\ude00"`, `"\u200b"`, `"None"`, `" nil "`, `[]`, `["text"]`, `[null]`, `{}`, `{"a":1}`, `"{\"a\":1}"`, `"{"`,
}

// Bodies returns bodies for a request: whole ones of every form, and ones with each member as each value.
func Bodies(s Shape) []Body {
	all := slices.Concat(wholes(s.Whole), forms(s), kinds(s.Whole))
	if s.Most > 0 {
		all = append(all, Body{Name: "as long as may be", Text: padded(s.Whole, s.Most)}, Body{Name: "a byte longer", Text: padded(s.Whole, s.Most+1)})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Members)) {
		for _, value := range slices.Concat(values, s.Members[name]) {
			all = append(all, Body{Name: name + ": " + value, Text: with(s.Whole, name, value)})
		}
		all = append(all,
			Body{Name: name + ": 200 letters", Text: with(s.Whole, name, quoted(strings.Repeat("a", 200)))},
			Body{Name: name + ": 5000 letters", Text: with(s.Whole, name, quoted(strings.Repeat("a", 5000)))},
			Body{Name: name + " twice, the second 7", Text: with(s.Whole, name, `"text"`, member(name, `7`))},
			Body{Name: name + " twice, the second null", Text: with(s.Whole, name, `"text"`, member(name, `null`))},
			Body{Name: name + " twice, the second wrong", Text: with(s.Whole, name, `"text"`, member(name, `[[]]`))},
			Body{Name: name + " in capitals: 7", Text: with(s.Whole, "", "", member(strings.ToUpper(name), `7`))},
			Body{Name: name + " with an escape: 7", Text: with(s.Whole, name, "", `"`+fmt.Sprintf(`\u%04x`, name[0])+name[1:]+`":7`)},
			formOf(name+" in a form: 7", s.Whole, name, "7"), formOf(name+" in a form: text", s.Whole, name, "text"),
			formOf(name+" in a form: true", s.Whole, name, "true"), formOf(name+" in a form, blank", s.Whole, name, ""),
			formOf(name+" in a form, with a member", s.Whole, name+"[a]", "1"),
		)
	}
	return all
}

// wholes are forms of the body itself, in JSON.
func wholes(whole string) []Body {
	inside := strings.TrimSuffix(strings.TrimPrefix(whole, "{"), "}")
	deep := func(levels int) string {
		return with(whole, "", "", member("deep", strings.Repeat("[", levels)+strings.Repeat("]", levels)))
	}
	texts := []struct{ name, text string }{
		{"whole", whole}, {"nothing", ""}, {"spaces", " \r\n\t"}, {"{}", "{}"}, {"[]", "[]"}, {"[ ]", " [ ] "}, {"null", "null"},
		{"[1]", "[1]"}, {"[null]", "[null]"}, {"[{}]", "[{}]"}, {"text", `"text"`}, {"a number", "7"}, {"true", "true"}, {"whole in an array", "[" + whole + "]"},
		{"whole as text", quoted(whole)}, {"[ alone", "["}, {"{ alone", "{"}, {"} alone", "}"}, {"whole, cut", whole[:len(whole)-1]},
		{"spaces around it", "\n " + whole + "\r\n"},
		{"a form feed before it", "\f" + whole}, {"a byte order mark", mark + whole}, {"a byte order mark alone", mark}, {"two byte order marks", mark + mark + whole},
		{"UTF-16", "\xff\xfe{\x00}\x00"}, {"two objects", whole + whole}, {"more behind it", whole + "x"}, {"[] and more", "[]x"}, {"null and more", "nullx"},
		{"nul", "nul"},
		{"a NUL behind it", whole + "\x00"}, {"a comma at the end", "{" + inside + ",}"}, {"a comma alone", "{,}"}, {"single quotes", strings.ReplaceAll(whole, `"`, `'`)},
		{"a comment", "/* */" + whole}, {"NaN", with(whole, "", "", member("other", "NaN"))}, {"a name without quotes", "{room:1}"},
		{"a member that nobody knows", with(whole, "", "", member("nobody", `{"a":[1,"b",null]}`))}, {"that twice", with(whole, "", "", member("nobody", "1"),
			member("nobody", "2"))},
		{"a member without a name", with(whole, "", "", member("", "1"))}, {"a member with a wrong value", with(whole, "", "", member("nobody", "1.2.3"))},
		{"a control character in text", with(whole, "", "", "\"nobody\":\"a\x01\"")}, {"no UTF-8 in a value", with(whole, "", "", "\"nobody\":\"\xff\"")},
		{"no UTF-8 in a name", with(whole, "", "", "\"\xc3\x28\":1")}, {"half a surrogate pair", with(whole, "", "", `"nobody":"\ud800"`)},
		{"100 levels", deep(100)}, {"9,000 levels", deep(9000)}, {"11,000 levels", deep(11000)},
		{"64 KiB", padded(whole, httpserver.MaxBody)}, {"a byte more than 64 KiB", padded(whole, httpserver.MaxBody+1)},
		{"60 kB in a member", with(whole, "", "", member("nobody", quoted(strings.Repeat("a", 60_000))))},
		{"4,000 members", manyMembers(whole, 4000)},
	}
	all := make([]Body, 0, len(texts))
	for _, t := range texts {
		all = append(all, Body{Name: t.name, Text: t.text})
	}
	return all
}

// forms are bodies and queries that are encoded as forms.
func forms(s Shape) []Body {
	whole := formOf("", s.Whole, "", "").Text
	asForm := func(name, contentType, text string) Body {
		return Body{Name: name, Header: http.Header{"Content-Type": {contentType}}, Text: text}
	}
	all := []Body{
		asForm("a form", form, whole), asForm("a form with a charset", form+"; charset=UTF-8", whole), asForm("a form with a broken parameter", form+"; charset", whole),
		asForm("a form in capitals", strings.ToUpper(form), whole), asForm("a form without anything", form, ""), asForm("a form of spaces", form, " "),
		asForm("a form with a broken escape", form, whole+"&x=%zz"),
		asForm("a form that is no UTF-8", form, whole+"&x=%ff"), asForm("a form with a semicolon", form, whole+";x=1"),
		asForm("a form with empty parts", form, "&&"+whole+"&&"),
		asForm("a form with members without values", form, whole+"&x&y="), asForm("a form with odd brackets", form, whole+"&a[=1&b]=1&c[]=1&[d]=1&e[f][g]=1"),
		asForm("JSON that is called a form", form, s.Whole), asForm("spaces and JSON that is called a form", form, "\r\n "+s.Whole),
		asForm("an array that is called a form", form, "[]"),
		asForm("text that is called a form", form, `"text"`), asForm("a form that is called text", "text/plain", whole), asForm("a form without a type", "", whole),
		{Name: "a query", Query: whole}, {Name: "a query and the whole", Query: whole, Text: s.Whole},
		{Name: "a query with a broken escape", Query: "x=%zz", Text: s.Whole},
		{Name: "a query that is no UTF-8", Query: "x=%ff", Text: s.Whole},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Members)) {
		all = append(all, Body{Name: "a query with " + name, Query: url.Values{name: {"text"}}.Encode(), Text: s.Whole})
	}
	return all
}

// kinds are bodies with types and codings of other kinds.
func kinds(whole string) []Body {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(whole)) // A buffer has no errors.
	_ = z.Close()
	parts := "--x\r\nContent-Disposition: form-data; name=\"room\"\r\n\r\na\r\n--x--\r\n"
	named := func(name, header, value, text string) Body {
		return Body{Name: name, Header: http.Header{header: {value}}, Text: text}
	}
	return []Body{
		named("JSON without a type", contentType, "", whole), named("JSON that is called text", contentType, "text/plain", whole),
		named("JSON with a charset", contentType, "application/json; charset=latin1", whole),
		named("JSON that is called XML", contentType, "application/xml", whole), named("XML", contentType, "application/soap+xml", "<a/>"),
		named("multipart", contentType, "multipart/form-data; boundary=x", parts),
		named("JSON that is called multipart", contentType, "multipart/form-data; boundary=x", whole), named("gzip", "Content-Encoding", "gzip", zipped.String()),
		named("JSON that is called gzip", "Content-Encoding", "gzip", whole), named("no coding, by its name", "Content-Encoding", "identity", whole),
	}
}

// with is an object with a member as that value in JSON, and with further members as they are written. Without a value the member is away.
func with(whole, name, value string, more ...string) string {
	var members []string
	for _, m := range membersOf(whole) {
		if m.name != name {
			members = append(members, member(m.name, m.value))
		}
	}
	if value != "" {
		members = append(members, member(name, value))
	}
	return "{" + strings.Join(append(members, more...), ",") + "}"
}

type pair struct{ name, value string }

// membersOf returns the members of an object by their names.
func membersOf(whole string) (all []pair) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(whole), &members); err != nil {
		panic(err) // A test wrote it.
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all = append(all, pair{name, string(members[name])})
	}
	return all
}

// formOf is an object as a form, with one more member.
func formOf(name, whole, more, value string) Body {
	values := url.Values{}
	for _, m := range membersOf(whole) {
		text := m.value
		_ = json.Unmarshal([]byte(m.value), &text) // Another value than text is as it is written.
		values.Set(m.name, text)
	}
	if more != "" {
		values.Set(more, value)
	}
	return Body{Name: name, Header: http.Header{contentType: {form}}, Text: values.Encode()}
}

func member(name, value string) string { return quoted(name) + ":" + value }

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // Text has no error.
	}
	return string(data)
}

func padded(whole string, length int) string {
	return whole[:1] + strings.Repeat(" ", length-len(whole)) + whole[1:]
}

func manyMembers(whole string, n int) string {
	more := make([]string, n)
	for i := range more {
		more[i] = member("m"+strconv.Itoa(i), "1")
	}
	return with(whole, "", "", more...)
}
