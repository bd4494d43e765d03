// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
)

// said sends a request, and returns what the API makes of it as one text: the status, the error or the commands, and what the link's
// ticket or the token holds.
func (w *world) said(endpoint string, members map[string]any) string {
	w.t.Helper()
	body, err := json.Marshal(members)
	if err != nil {
		w.t.Fatal(err)
	}
	w.meetings.reset("stand-up")
	w.moderator.did, w.moderator.spec = nil, v1alpha1.MeetingSpec{Redirect: "https://example.com/"}
	target := scalarTargets[endpoint]
	got := w.do(target.method, target.path, string(body))
	if got.status != http.StatusOK {
		return fmt.Sprint(got.status, got.text(w.t, "error"))
	}
	commands, err := json.Marshal([]any{w.meetings.took(), w.moderator.did, w.moderator.spec})
	if err != nil {
		w.t.Fatal(err)
	}
	said := fmt.Sprintf("%d %s", got.status, commands)
	switch endpoint {
	case "join":
		said += fmt.Sprintf(" %+v", w.joined(w.hosts[host], got).ticket.Ticket)
	case "token":
		grant, err := w.hosts[host].Signer.VerifyToken(got.text(w.t, "token"), nil, w.now())
		if err != nil {
			w.t.Fatal(err)
		}
		said += fmt.Sprint(grant.Username, grant.Presenter, grant.Expires)
	}
	return said
}

var scalarTargets = map[string]struct {
	method, path, schema string
	// whole is a body that is taken.
	whole map[string]any
}{
	"join":         {http.MethodPost, "join", "JoinRequest", map[string]any{"room": "stand-up", "name": "Ada"}},
	"token":        {http.MethodPost, "token", "TokenRequest", map[string]any{"username": "ada"}},
	"meeting":      {http.MethodPost, "meeting", "MeetingRequest", map[string]any{"room": "board"}},
	"end":          {http.MethodDelete, "meeting/stand-up", "EndRequest", map[string]any{}},
	"change":       {http.MethodPatch, "meeting/stand-up", "MeetingPatchRequest", map[string]any{"locked": true}},
	"decide":       {http.MethodPatch, "meeting/stand-up/participants/a-1", "ParticipantPatchRequest", map[string]any{"role": "Presenter"}},
	"remove":       {http.MethodDelete, "meeting/stand-up/participants/a-1", "RemoveRequest", map[string]any{}},
	"announcement": {http.MethodPost, "meeting/stand-up/announcements", "AnnouncementRequest", map[string]any{"text": "hello"}},
}

// membersOf are the members of an endpoint's request, as the document describes them.
func membersOf(endpoint string) []string {
	return slices.Sorted(maps.Keys(described().at("components", "schemas", scalarTargets[endpoint].schema, "properties")))
}

func with(members map[string]any, name string, value any) map[string]any {
	members = maps.Clone(members)
	members[name] = value
	return members
}

// TestABlankMemberIsAbsent: typed clients send an empty string for what was not filled in, in any member.
func TestABlankMemberIsAbsent(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	speaks := map[string]bool{
		"meeting redirect": true, "end redirect": true, "change redirect": true, "meeting roomPassword": true, "join roomPassword": true, "announcement to": true,
	}
	for endpoint, target := range scalarTargets {
		for _, name := range membersOf(endpoint) {
			absent := maps.Clone(target.whole)
			delete(absent, name)
			if endpoint == "meeting" && name == "room" {
				continue // The service makes another name each time.
			}
			blank, null := w.said(endpoint, with(absent, name, "")), w.said(endpoint, absent)
			if (blank == null) == speaks[endpoint+" "+name] {
				t.Errorf("%s, blank %s: %s\nwithout it: %s", endpoint, name, blank, null)
			}
		}
	}
	if got := w.do(http.MethodPost, "meeting", `{"room":""}`); got.status != http.StatusOK {
		t.Errorf("a blank room: %d %s", got.status, got.body)
	}
	if said := w.said("announcement", map[string]any{"text": "hello", "to": ""}); !strings.HasPrefix(said, "400") {
		t.Errorf("an announcement to nobody: %s", said)
	}
}

// TestANumberIsItsText, in every member, and the text is the number. Only a lifetime has a unit in its text.
func TestANumberIsItsText(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	for endpoint, target := range scalarTargets {
		for _, name := range membersOf(endpoint) {
			for number, text := range map[any]string{7: "7", 1: "1", json.Number("42.0"): "42", json.Number("12345678901"): "12345678901", json.Number("1.5"): "1.5"} {
				if name == "expire" || name == "policy" || name == "sources" || name == "grantedSources" || name == "token" {
					continue
				}
				one, other := w.said(endpoint, with(target.whole, name, number)), w.said(endpoint, with(target.whole, name, text))
				if one != other {
					t.Errorf("%s, %s %v: %s\n%q: %s", endpoint, name, number, one, text, other)
				}
			}
		}
	}
	for _, body := range []map[string]any{{"room": 42, "name": 7}, {"room": "board", "maxParticipants": "20"}} {
		endpoint := "join"
		if body["name"] == nil {
			endpoint = "meeting"
		}
		if said := w.said(endpoint, body); !strings.HasPrefix(said, "200") {
			t.Errorf("%v: %s", body, said)
		}
	}
}

// wordsForNone returns the words of docs/migrate.md, in all cases and with spaces. The OpenAPI document has the same words.
func wordsForNone(t *testing.T) []any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "migrate.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(text), "| words for none in ")
	row, _, _ = strings.Cut(row, "\n")
	_, row, _ = strings.Cut(row, "as text")
	_, described, _ := strings.Cut(fmt.Sprint(described().at("info")["description"]), "for nothing as text")
	described, _, _ = strings.Cut(described, ".")
	quoted := regexp.MustCompile("`([^`]+)`")
	told := quoted.FindAllStringSubmatch(row, -1)
	if diff := cmp.Diff(told, quoted.FindAllStringSubmatch(described, -1)); diff != "" || len(told) < 9 {
		t.Errorf("docs/migrate.md and the document have other words (-migrate.md +document):\n%s", diff)
	}
	words := []any{json.Number("0.0"), 0, false, nil, ""}
	for _, one := range told {
		words = append(words, one[1], strings.ToUpper(one[1]), strings.ToLower(one[1]), " "+one[1]+"\t", " ")
	}
	return words
}

// TestWordsForNone: what templates and client libraries write for nothing becomes nobody's password, avatar, token or duration.
func TestWordsForNone(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	for _, word := range wordsForNone(t) {
		for endpoint, names := range map[string][]string{"join": {"avatar", "token", "duration"}, "meeting": {"duration"}, "change": {"duration"}} {
			for _, name := range names {
				whole := with(scalarTargets[endpoint].whole, "room", "board")
				if said, want := w.said(endpoint, with(whole, name, word)), w.said(endpoint, with(whole, name, nil)); said != want {
					t.Errorf("%s, %s %q: %s\nwithout it: %s", endpoint, name, word, said, want)
				}
			}
		}
		for _, endpoint := range []string{"join", "meeting"} { // A password that is not given is not none: the room may have one.
			whole := scalarTargets[endpoint].whole
			said, none := w.said(endpoint, with(whole, "roomPassword", word)), w.said(endpoint, with(whole, "roomPassword", ""))
			if absent := w.said(endpoint, whole); none == absent || word != nil && said != none || word == nil && said != absent {
				t.Errorf("roomPassword %v of a %s: %s", word, endpoint, said)
			}
		}
	}
	for _, word := range []any{"nothing", "nul", "falsely", "true", 12, "00", "nil.", "no value"} {
		if said := w.said("meeting", map[string]any{"room": "board", "roomPassword": word}); !strings.Contains(said, fmt.Sprintf(`"Password":"%v"`, word)) {
			t.Errorf("the password %v: %s", word, said)
		}
	}
}

// TestObjectsAsText: clients that put together JSON twice send a nested object as text.
func TestObjectsAsText(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	for _, tc := range []struct {
		endpoint, name string
		value          map[string]any
	}{
		{"join", "token", map[string]any{"username": "ada", "expire": "2h"}},
		{"join", "token", map[string]any{"username": `a "b"`, "password": 7}},
		{"join", "token", map[string]any{"username": "", "password": "x"}},
		{"change", "policy", map[string]any{"chat": "Presenters"}},
		{"change", "policy", map[string]any{}},
	} {
		text, err := json.Marshal(tc.value)
		if err != nil {
			t.Fatal(err)
		}
		whole := scalarTargets[tc.endpoint].whole
		if said, want := w.said(tc.endpoint, with(whole, tc.name, string(text))), w.said(tc.endpoint, with(whole, tc.name, tc.value)); said != want {
			t.Errorf("%s %s as text: %s\nwant %s", tc.name, text, said, want)
		}
		cut := string(text[:len(text)-1])
		if said := w.said(tc.endpoint, with(whole, tc.name, cut)); !strings.HasPrefix(said, "400"+tc.name+" must be an object") {
			t.Errorf("%s %s: %s", tc.name, cut, said)
		}
	}
}

// TestBooleansInAnyCase, in every boolean of every request.
func TestBooleansInAnyCase(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	flags := 0
	for endpoint, target := range scalarTargets {
		for _, name := range membersOf(endpoint) {
			if !strings.Contains(fmt.Sprint(described().at("components", "schemas", target.schema, "properties", name)["type"]), "boolean") {
				continue
			}
			flags++
			for _, value := range []bool{true, false} {
				want := w.said(endpoint, with(target.whole, name, value))
				word := fmt.Sprint(value)
				for _, spelling := range []any{word, strings.ToUpper(word), strings.ToUpper(word[:1]) + word[1:]} {
					if said := w.said(endpoint, with(target.whole, name, spelling)); said != want {
						t.Errorf("%s, %s %v: %s\nwant %s", endpoint, name, spelling, said, want)
					}
				}
			}
		}
	}
	if flags < 12 {
		t.Errorf("the document has %d booleans", flags)
	}
}

// TestBodiesOfOtherKinds are refused by their coding or type, whatever is in them.
func TestBodiesOfOtherKinds(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	gzipped := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xabV*\xca\xcf\xcfU\xb2R"
	multipart := "--x\r\nContent-Disposition: form-data; name=\"room\"\r\n\r\na\r\n--x--\r\n"
	for _, tc := range []struct{ name, value, body, says string }{
		{"Content-Encoding", "gzip", gzipped, `Content-Encoding "gzip" is not supported; send the body without Content-Encoding`},
		{"Content-Encoding", "br", "\x0b\x02\x80", `Content-Encoding "br" is not supported; send the body without Content-Encoding`},
		{"Content-Encoding", strings.Repeat("x", 90), "x", fmt.Sprintf(`Content-Encoding "%s" is not supported; send the body without Content-Encoding`, strings.Repeat("x", 40))},
		{"Content-Type", "multipart/form-data; boundary=x", multipart, `The body must be JSON, and not "multipart/form-data"; send application/json`},
		{"Content-Type", "text/xml; charset=utf-8", "<room>a</room>", `The body must be JSON, and not "text/xml"; send application/json`},
		{"Content-Type", "application/soap+xml", "<room>a</room>", `The body must be JSON, and not "application/soap+xml"; send application/json`},
	} {
		for _, path := range []string{"join", "token", "meeting"} {
			got := w.do(http.MethodPost, path, tc.body, header(tc.name, tc.value))
			if got.status != http.StatusUnsupportedMediaType || got.text(t, "error") != tc.says {
				t.Errorf("%s: %s %s: %d %s\nwant %s", path, tc.name, tc.value, got.status, got.body, tc.says)
			}
		}
	}
	// A header that is wrong about a body that can be read does no harm.
	for name, value := range map[string]string{"Content-Encoding": "gzip", "Content-Type": "multipart/form-data; boundary=x"} {
		if got := w.do(http.MethodPost, "token", `{"username":"ada"}`, header(name, value)); got.status != http.StatusOK {
			t.Errorf("%s of JSON: %d %s", value, got.status, got.body)
		}
	}
	if got := w.do(http.MethodPost, "token", "{", header("Content-Encoding", "identity")); got.status != http.StatusBadRequest {
		t.Errorf("broken JSON: %d %s", got.status, got.body)
	}
}
