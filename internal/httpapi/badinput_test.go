// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	saysNotJSON   = "The body must be valid JSON in UTF-8; correct it"
	saysNotObject = `The body must be a JSON object, for example {"room":"stand-up"}`
	saysNotForm   = "The form, or the query, must be encoded as application/x-www-form-urlencoded in UTF-8; correct it, or send JSON"
	saysRoom      = "room is required; give it 1 to 128 characters"
	saysName      = "name is required; give it 1 to 128 characters"
	saysSlash     = `room must not contain / or \; choose another name`
	saysDuration  = "duration must be HH:MM:SS with minutes and seconds from 00 to 59, for example 01:30:00, or unlimited"
	saysExpire    = "must be a number above zero with a unit, for example 1h, 30 minutes or 2 days; a JSON number is in seconds"
	saysPassword  = "must be a string, or false for none"
	saysRedirect  = "redirect must be an absolute http or https URL, for example https://example.com/page"
	saysAvatar    = "avatar must be an absolute http or https URL, for example https://example.com/page"
	saysFlag      = "must be true or false"
)

// badInput is refused before anything behind the API hears of it.
var badInput = []struct {
	reason, endpoint, body string
	says                   string
	// beyondSchema marks what only the server knows to be wrong: limits of the tenant, bytes, duplicates, and values that tools show as no
	// type when a schema excludes them.
	beyondSchema bool
}{
	{"no body", "join", "", saysRoom, false},
	{"an empty object", "join", "{}", saysRoom, false},
	{"null", "join", "null", saysRoom, false},
	{"broken JSON", "join", `{"room":`, saysNotJSON, true},
	{"a comma too many", "join", `{"room":"a","name":"b",}`, saysNotJSON, true},
	{"single quotes", "join", `{'room':'a'}`, saysNotJSON, true},
	{"a form", "join", "room=a&name=b", saysNotJSON, true},
	{"more behind the object", "join", `{"room":"a","name":"b"} {}`, saysNotJSON, true},
	{"invalid UTF-8", "join", "{\"room\":\"\xff\",\"name\":\"b\"}", saysNotJSON, true},
	{"half a surrogate", "join", `{"room":"\ud800","name":"b"}`, saysNotJSON, true},
	{"a line in a string", "join", "{\"room\":\"a\nb\",\"name\":\"b\"}", saysNotJSON, true},
	{"an array", "join", `[{"room":"a","name":"b"}]`, saysNotObject, false},
	{"a string", "join", `"room"`, saysNotObject, false},
	{"a number", "join", `1`, saysNotObject, false},
	{"a boolean", "join", `true`, saysNotObject, false},
	{"nesting without end", "join", strings.Repeat("[", 30000), saysNotJSON, true},

	{"room missing", "join", `{"name":"b"}`, saysRoom, false},
	{"room null", "join", `{"room":null,"name":"b"}`, saysRoom, false},
	{"room empty", "join", `{"room":"","name":"b"}`, saysRoom, false},
	{"room null at last", "join", `{"room":"a","name":"b","room":null}`, saysRoom, true},
	{"room a boolean", "join", `{"room":true,"name":"b"}`, "room must be a string", false},
	{"room an object", "join", `{"room":{},"name":"b"}`, "room must be a string", false},
	{"room with /", "join", `{"room":"a/b","name":"b"}`, saysSlash, false},
	{"room with \\", "join", `{"room":"a\\b","name":"b"}`, saysSlash, false},
	{"room .", "join", `{"room":".","name":"b"}`, "room must not be . or ..; choose another name", true},
	{"room ..", "join", `{"room":"..","name":"b"}`, "room must not be . or ..; choose another name", true},
	{"room with a control character", "join", `{"room":"a\u0007b","name":"b"}`, "room must not contain control characters; remove them", false},
	{"room with NUL", "join", `{"room":"a\u0000","name":"b"}`, "room must not contain control characters; remove them", false},
	{"room of 129 characters", "join", `{"room":"` + strings.Repeat("ü", 129) + `","name":"b"}`, "room must have at most 128 characters", false},

	{"name missing", "join", `{"room":"a"}`, saysName, false},
	{"name empty", "join", `{"room":"a","name":""}`, saysName, false},
	{"name an array", "join", `{"room":"a","name":["b"]}`, "name must be a string", false},
	{"name of nothing to see", "join", `{"room":"a","name":"\n\u0000"}`, saysName, false},
	{"name of what fonts draw nothing for", "join", `{"room":"a","name":"\u200b\u202e"}`, saysName, true},
	{"room of what fonts draw nothing for", "join", `{"room":"\u200b\u2800","name":"b"}`, saysRoom, true},
	{"name of 129 characters", "join", `{"room":"a","name":"` + strings.Repeat("n", 129) + `"}`, "name must have at most 128 characters", false},

	{"avatar true", "join", `{"room":"a","name":"b","avatar":true}`, "avatar " + saysPassword, false},
	{"avatar a number", "join", `{"room":"a","name":"b","avatar":1}`, saysAvatar, false},
	{"avatar relative", "join", `{"room":"a","name":"b","avatar":"/a.png"}`, saysAvatar, false},
	{"avatar a script", "join", `{"room":"a","name":"b","avatar":"javascript:alert(1)"}`, saysAvatar, false},
	{"avatar data", "join", `{"room":"a","name":"b","avatar":"data:image/png;base64,AA=="}`, saysAvatar, false},
	{"avatar too long", "join", `{"room":"a","name":"b","avatar":"https://example.com/` + strings.Repeat("a", 2030) + `"}`, "avatar must have at most 2048 characters", false},

	{"audio a word", "join", `{"room":"a","name":"b","audio":"yes"}`, "audio " + saysFlag, false},
	{"video 2", "join", `{"room":"a","name":"b","video":2}`, "video " + saysFlag, false},
	{"screen a word for none", "join", `{"room":"a","name":"b","screen":"None"}`, "screen " + saysFlag, false},
	{"chat an object", "join", `{"room":"a","name":"b","chat":{}}`, "chat " + saysFlag, false},
	{"hide an array", "join", `{"room":"a","name":"b","hide":[true]}`, "hide " + saysFlag, false},
	{"notify with a space", "join", `{"room":"a","name":"b","notify":" true"}`, "notify " + saysFlag, false},
	{"presenter a word", "join", `{"room":"a","name":"b","presenter":"me"}`, "presenter " + saysFlag, false},

	{"duration 1h", "join", `{"room":"a","name":"b","duration":"1h"}`, saysDuration, false},
	{"duration of sixty minutes", "join", `{"room":"a","name":"b","duration":"00:60:00"}`, saysDuration, false},
	{"duration of sixty seconds", "join", `{"room":"a","name":"b","duration":"00:00:60"}`, saysDuration, false},
	{"duration of one digit", "join", `{"room":"a","name":"b","duration":"1:00:00"}`, saysDuration, false},
	{"duration zero", "join", `{"room":"a","name":"b","duration":"00:00:00"}`, "duration must not be zero; use unlimited for no limit", true},
	{"duration true", "join", `{"room":"a","name":"b","duration":true}`, "duration " + saysPassword, false},
	{"duration a number", "join", `{"room":"a","name":"b","duration":60}`, saysDuration, false},
	{"duration over the greatest", "join", `{"room":"a","name":"b","duration":"09:00:00"}`, "duration must be at most 08:00:00 here; ask for less", true},

	{"token a number", "join", `{"room":"a","name":"b","token":2}`, "token must be an object, or a token as a string", false},
	{"token an array", "join", `{"room":"a","name":"b","token":[1]}`, "token must be an object, or a token as a string", false},
	{"token an empty array", "join", `{"room":"a","name":"b","token":[]}`, "token.username is required; give the user's name", false},
	{"token without username", "join", `{"room":"a","name":"b","token":{}}`, "token.username is required; give the user's name", false},
	{"token with a wrong username", "join", `{"room":"a","name":"b","token":{"username":[1]}}`, "token.username must be a string", false},
	{"token with a wrong presenter", "join", `{"room":"a","name":"b","token":{"username":"u","presenter":"x"}}`, "token.presenter " + saysFlag, false},
	{"token with a wrong expire", "join", `{"room":"a","name":"b","token":{"username":"u","expire":"0h"}}`, "token.expire " + saysExpire, false},

	{"no body", "token", "", "username is required; give the user's name", false},
	{"an array", "token", "[{}]", saysNotObject, false},
	{"username null", "token", `{"username":null}`, "username is required; give the user's name", false},
	{"username empty", "token", `{"username":""}`, "username is required; give the user's name", false},
	{"username with a control character", "token", `{"username":"a\u007f"}`, "username must not contain control characters; remove them", false},
	{"username too long", "token", `{"username":"` + strings.Repeat("u", 256) + `"}`, "username must be at most 255 bytes long", false},
	{"password a boolean", "token", `{"username":"u","password":true}`, "password must be a string", false},
	{"presenter a list", "token", `{"username":"u","presenter":[]}`, "presenter " + saysFlag, false},
	{"expire 0h", "token", `{"username":"u","expire":"0h"}`, "expire " + saysExpire, false},
	{"expire 1y", "token", `{"username":"u","expire":"1y"}`, "expire must not be longer than 30d: ask for a shorter one", true},
	{"expire in months", "token", `{"username":"u","expire":"1 month"}`, "expire " + saysExpire, true},
	{"expire abc", "token", `{"username":"u","expire":"abc"}`, "expire " + saysExpire, false},
	{"expire without unit", "token", `{"username":"u","expire":"60"}`, "expire " + saysExpire, false},
	{"expire without number", "token", `{"username":"u","expire":"h"}`, "expire " + saysExpire, false},
	{"expire a space", "token", `{"username":"u","expire":" "}`, "expire " + saysExpire, false},
	{"expire negative", "token", `{"username":"u","expire":"-1h"}`, "expire " + saysExpire, false},
	{"expire below a second", "token", `{"username":"u","expire":"500 ms"}`, "expire " + saysExpire, true},
	{"expire a number below zero", "token", `{"username":"u","expire":-60}`, "expire " + saysExpire, false},
	{"expire the number zero", "token", `{"username":"u","expire":0}`, "expire " + saysExpire, false},
	{"expire a number over the greatest", "token", `{"username":"u","expire":2592001}`, "expire must not be longer than 30d: ask for a shorter one", true},
	{"expire an object", "token", `{"username":"u","expire":{}}`, "expire must be a string", false},
	{"expire over the greatest", "token", `{"username":"u","expire":"31d"}`, "expire must not be longer than 30d: ask for a shorter one", true},
	{"expire beyond all time", "token", `{"username":"u","expire":"99999999999999999999w"}`, "expire " + saysExpire, true},

	{"an array", "meeting", "[[]]", saysNotObject, false},
	{"broken JSON", "meeting", "{", saysNotJSON, true},
	{"room with /", "meeting", `{"room":"/"}`, saysSlash, false},
	{"room a boolean", "meeting", `{"room":false}`, "room must be a string", false},
	{"duration zero", "meeting", `{"duration":"00:00:00"}`, "duration must not be zero; use unlimited for no limit", true},
	{"duration over the greatest", "meeting", `{"duration":"08:00:01"}`, "duration must be at most 08:00:00 here; ask for less", true},
	{"password true", "meeting", `{"roomPassword":true}`, "roomPassword " + saysPassword, false},
	{"password a list", "meeting", `{"roomPassword":["a"]}`, "roomPassword " + saysPassword, false},
	{"password that is a hash", "meeting", `{"roomPassword":"$argon2id$v=19$m=262144,t=10,p=16$YWFhYWFhYWFhYWFhYWFhYQ$YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE"}`, "roomPassword must be the password itself, not a hash of it", true},
	{"password too long", "meeting", `{"roomPassword":"` + strings.Repeat("p", 1025) + `"}`, "roomPassword must be at most 1024 bytes long", false},
	{"maxParticipants zero", "meeting", `{"maxParticipants":0}`, "maxParticipants must be a whole number from 1 to 500", false},
	{"maxParticipants over the greatest", "meeting", `{"maxParticipants":501}`, "maxParticipants must be a whole number from 1 to 500", true},
	{"maxParticipants a fraction", "meeting", `{"maxParticipants":1.5}`, "maxParticipants must be a whole number from 1 to 500", false},
	{"maxParticipants enormous", "meeting", `{"maxParticipants":1e400}`, "maxParticipants must be a whole number from 1 to 500", true},
	{"maxParticipants a word", "meeting", `{"maxParticipants":"many"}`, "maxParticipants must be a whole number from 1 to 500", false},
	{"maxParticipants a fraction in quotes", "meeting", `{"maxParticipants":"1.5"}`, "maxParticipants must be a whole number from 1 to 500", false},
	{"redirect a script", "meeting", `{"redirect":"javascript:alert(1)"}`, saysRedirect, false},
	{"redirect false", "meeting", `{"redirect":false}`, "redirect must be a string", false},

	{"redirect a script", "end", `{"redirect":"javascript:alert(1)"}`, saysRedirect, false},
	{"redirect relative", "end", `{"redirect":"/bye"}`, saysRedirect, false},
	{"redirect without a host", "end", `{"redirect":"https://"}`, saysRedirect, false},
	{"redirect a number", "end", `{"redirect":0}`, saysRedirect, false},
	{"redirect too long", "end", `{"redirect":"https://example.com/` + strings.Repeat("a", 2030) + `"}`, "redirect must have at most 2048 characters", false},
	{"redirect to a host that is not allowed", "end", `{"redirect":"https://evil.example.org/"}`, `redirect must lead to one of the hosts that the operator allows; ask the operator to add "evil.example.org"`, true},
	{"an array", "end", `[1]`, saysNotObject, false},
	{"broken JSON", "end", `{"redirect"`, saysNotJSON, true},
}

var badInputTargets = map[string]struct{ method, path, schema string }{
	"join":    {http.MethodPost, "join", "JoinRequest"},
	"token":   {http.MethodPost, "token", "TokenRequest"},
	"meeting": {http.MethodPost, "meeting", "MeetingRequest"},
	"end":     {http.MethodDelete, "meeting/stand-up", "EndRequest"},
}

func limited(t *tenant.Tenant) {
	t.Settings.MaxLength = meeting.Length(8 * 3600e9)
	t.Settings.MaxParticipants = 500
	t.Settings.RedirectHosts = []string{"example.com", "*.example.net"}
}

func TestBadInput(t *testing.T) {
	for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
		w := newWorld(t, testTenant(variant, limited)).serve()
		for _, tc := range badInput {
			target := badInputTargets[tc.endpoint]
			if variant == v1alpha1.VariantB && tc.endpoint == "end" {
				continue
			}
			got := w.do(target.method, target.path, tc.body)
			if got.status != http.StatusBadRequest || got.text(t, "error") != tc.says {
				t.Errorf("variant %s, %s, %s: %d %s\nwant %s", variant, tc.endpoint, tc.reason, got.status, got.body, tc.says)
			}
			if commands := w.meetings.took(); len(commands) > 0 {
				t.Errorf("variant %s, %s, %s: %v", variant, tc.endpoint, tc.reason, commands)
			}
		}
	}
}

// TestDocumentRefusesBadInput holds the described requests against the same table: what a client's generated code
// checks is what the server checks.
func TestDocumentRefusesBadInput(t *testing.T) {
	for _, tc := range badInput {
		if tc.beyondSchema || tc.body == "" {
			continue
		}
		if described().validate(tc.body, "components", "schemas", badInputTargets[tc.endpoint].schema) == nil {
			t.Errorf("%s, %s: the document lets it pass", tc.endpoint, tc.reason)
		}
	}
}

func TestBadRoomInPath(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	for _, tc := range []struct{ reason, room, says string }{
		{"an encoded /", "a%2Fb", saysSlash},
		{"an encoded \\", "a%5Cb", saysSlash},
		{"a control character", "a%00", "room must not contain control characters; remove them"},
		{"129 characters", strings.Repeat("a", 129), "room must have at most 128 characters"},
		{"invalid UTF-8", "%FF", "room must be valid UTF-8"},
		{"an encoded ..", "%2e%2e", "room must not be . or ..; choose another name"},
	} {
		got := w.do(http.MethodDelete, "meeting/"+tc.room, "")
		if got.status != http.StatusBadRequest || got.text(t, "error") != tc.says {
			t.Errorf("%s: %d %s", tc.reason, got.status, got.body)
		}
		if commands := w.meetings.took(); len(commands) > 0 {
			t.Errorf("%s: %v", tc.reason, commands)
		}
	}
}

// TestErrorsKeepSecrets sends a secret in every place where a value can be wrong.
func TestErrorsKeepSecrets(t *testing.T) {
	const secret = "s3cr3t-that-nobody-may-read"
	w := newWorld(t, testTenant(v1alpha1.VariantA, withUsers)).serve()
	for _, body := range []string{
		`{"room":"a","name":"b","roomPassword":{"x":"` + secret + `"}}`,
		`{"room":"a","name":"b","token":{"username":"ada","password":"` + secret + `"}}`,
		`{"room":"a","name":"b","token":"` + secret + `"}`,
		`{"room":"a","name":"b","token":["` + secret + `"]}`,
		`{"room":"a","name":"b","roomPassword":"` + secret,
		`{"room":"a","name":"b","roomPassword":"` + strings.Repeat(secret, 60) + `"}`,
	} {
		if got := w.do(http.MethodPost, "join", body); got.status < 400 || got.status > 403 || strings.Contains(got.body, secret) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	w.do(http.MethodGet, "stats", "", header("Authorization", secret))
	for _, line := range w.lines {
		if strings.Contains(line, secret) || strings.Contains(line, rightKey) {
			t.Errorf("the log holds a secret: %s", line)
		}
	}
}
