// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
)

const (
	needsKeys = "at spec: a source of API keys is needed: set api.keySecretRefs or source"
)

// In variant A.
func configRules(t *testing.T, c *testkit.Cluster, r *refused) {
	checkRules(t, r, resource(t, c, "ConferenceConfig", fullA), creates(t, c), slices.Concat(
		[]rule{
			{"without anything that is optional", "spec", map[string]any{"baseURL": "http://x.example", "api": map[string]any{"keySecretRefs": refs("k")}}, ""},
			{"several keys, for a change of keys", "spec.api.keySecretRefs", refs("a", "b"), ""},
			{"one key twice", "spec.api.keySecretRefs", refs("a", "b", "a"), "at spec.api.keySecretRefs[]: Duplicate value"},
			{"a switch that is no boolean", "spec.api.allowed", map[string]any{"stats": "yes"}, "at spec.api.allowed.stats: must be of type boolean"},
			{"the list of variant B", "spec.api.disabled", []string{"stats"}, "at spec: api.disabled belongs to variant B; use api.allowed in variant A"},
			{"an endpoint that is misspelled", "spec.api.allowed", map[string]bool{"tokens": false}, "there is no endpoint of this name; use stats, meetings, meeting, meetingEnd, join, token or docs"},
			{"every endpoint", "spec.api.allowed", map[string]bool{
				"stats": true, "meetings": true, "meeting": true, "meetingEnd": true, "join": true, "token": false, "docs": true,
			}, ""},
			{"an empty list of variant B", "spec.api.disabled", []string{}, "at spec: api.disabled belongs to variant B"},
			{"the file of variant B", "spec.source", map[string]any{"env": map[string]any{"secretRef": ref("env")}}, "at spec: source.env belongs to variant B; use source.configJS in variant A"},
			{"no source of keys", "spec", map[string]any{"variant": "A", "baseURL": "http://x.example"}, needsKeys},
			{"an API without keys", "spec", map[string]any{"variant": "A", "baseURL": "http://x.example", "api": map[string]any{"allowed": map[string]bool{}}}, needsKeys},
			{"an empty list of keys", "spec", map[string]any{"variant": "A", "baseURL": "http://x.example", "api": map[string]any{"keySecretRefs": refs()}}, needsKeys},
			{"another variant", "spec.variant", "a", `supported values: "A", "B"`},
			{"no variant is A", "spec.variant", absent, ""},
			{"no variant, and the list of variant B", "spec", map[string]any{"baseURL": "http://x.example", "api": map[string]any{"keySecretRefs": refs("k"), "disabled": []string{"stats"}}},
				"at spec: api.disabled belongs to variant B; use api.allowed in variant A"},
			{"the extension that exists", "spec.api.extensions", []string{"control"}, ""},
			{"an extension that does not exist", "spec.api.extensions", []string{"control", "recording"}, "there is no extension of this name; use control"},
			{"an endpoint of the document as an extension", "spec.api.extensions", []string{"stats"}, "there is no extension of this name"},
			{"config.js from a Secret and from a ConfigMap", "spec.source.configJS.configMapKeyRef", keyRef("file"), "at spec.source.configJS: configJS needs exactly one of secretKeyRef and configMapKeyRef"},
			{"config.js from nowhere", "spec.source.configJS.secretKeyRef", absent, "at spec.source.configJS: configJS needs exactly one of"},
			{"config.js without an environment", "spec.source.configJS.envSecretRef", absent, ""},
			{"an environment from a Secret and a ConfigMap in one entry", "spec.source.configJS", map[string]any{
				"secretKeyRef": keyRef("file"), "envFrom": []any{map[string]any{"secretRef": ref("env"), "configMapRef": ref("env")}},
			}, "at spec.source.configJS.envFrom[]: each entry needs exactly one of secretRef and configMapRef"},
			{"an environment named twice", "spec.source.configJS.envFrom", []any{map[string]any{"secretRef": ref("env")}}, "at spec.source.configJS: configJS takes only one of envSecretRef and envFrom"},
			{"no file at all", "spec.source", map[string]any{}, "at spec.source: source needs exactly one of env (variant B) and configJS (variant A)"},
			{"two files", "spec.source.env", map[string]any{"secretRef": ref("env")}, "at spec.source: source needs exactly one of env (variant B) and configJS (variant A)"},
			{"a field that does not exist", "spec.api.keys", "x", "at <nil>: unknown field"},
			{"nobody is a presenter", "spec.access.presenters", []string{}, ""},
			{"a greatest length of no limit", "spec.meetings.maxDuration", "unlimited", ""},
			{"a name that leaves no room for the Secret's", "metadata.name", strings.Repeat("x", 241), "at <nil>: the name must have at most 240 characters"},
			{"the longest name", "metadata.name", strings.Repeat("x", 240), ""},
		},
		list("a base URL", "spec.baseURL", "", "https://meet.example.com", "http://localhost:8080", "https://meet.example.com:8443/a/b-c_d.e~f", "http://[::1]:8080/x", "http://10.0.0.1"),
		list("a base URL that ends with a slash", "spec.baseURL", "baseURL must not end with /", "https://meet.example.com/", "https://meet.example.com/video/"),
		list("a base URL with more than a base", "spec.baseURL", "baseURL must not end with / and must not contain ?, #, @ or spaces",
			"https://meet.example.com?x=1", "https://meet.example.com#x", "https://anna@meet.example.com", "https://anna:secret@meet.example.com/x", "https://meet.example.com/a b"),
		list("a base URL whose path would be read in two ways", "spec.baseURL", "baseURL's path must consist of letters",
			"https://meet.example.com/a%2Fb", "https://meet.example.com//x", "https://meet.example.com/ä", "https://meet.example.com/{room}"),
		list("no base URL", "spec.baseURL", "baseURL must be an absolute http or https URL",
			"meet.example.com", "//meet.example.com", "ftp://meet.example.com", "https:///video", "https://:8443", "javascript:alert(1)", "/video/x/y", "wss://meet.example.com", "https://exa\nmple.com"),
		[]rule{
			{"no media server", "spec.mediaRefs", []any{}, ""},
			{"a media server of the same namespace", "spec.mediaRefs", []any{map[string]any{"name": "livekit"}}, ""},
			{"several media servers", "spec.mediaRefs", []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}, map[string]any{"name": "a", "namespace": "media"}}, ""},
			{"a media server twice", "spec.mediaRefs", []any{map[string]any{"name": "a"}, map[string]any{"name": "a"}}, "at spec.mediaRefs[]: Duplicate value"},
			{"a media server without a name", "spec.mediaRefs", []any{map[string]any{"namespace": "a"}}, "at spec.mediaRefs[].name: Required value"},
			{"the LiveKit of before", "spec.media", map[string]any{"apiURL": "http://livekit:7880"}, "at <nil>: unknown field"},
		},
		hostRules("spec.hostnames"), hostRules("spec.meetings.allowedRedirectHosts"), hostRules("spec.web.avatarHosts"),
		originRules("spec.web.embedOrigins", true), originRules("spec.web.corsOrigins", false),
		list("as many long origins as a header takes", "spec.web.embedOrigins", "", longOrigins(10, 260)),
		list("more origins than a header takes", "spec.web.embedOrigins", "at spec.web.embedOrigins: must have at most 2600 characters together", append(longOrigins(10, 260), "a://b")),
		urlRules("spec.web.homeURL"), urlRules("spec.web.brand.logoURL"),
		list("a countdown at the end", "spec.web.endCountdown", "", "0s", "20s", "1m30s", "5m"),
		list("a countdown over its bound", "spec.web.endCountdown", "must be 5m or less, for example 0s or 30s", "5m1s", "24h"),
		list("no countdown", "spec.web.endCountdown", "should match", badTimes...),
		list("a colour", "spec.web.brand.color", "", "", "#000000", "#1A4d8f"),
		list("no colour", "spec.web.brand.color", "should match", "red", "#fff", "1a4d8f", "#1a4d8g", "#1a4d8;"),
		lengthRules("spec.meetings.defaultDuration"), lengthRules("spec.meetings.maxDuration"),
		timeRules("spec.meetings.unjoinedTimeout"), timeRules("spec.meetings.emptyTimeout"), timeRules("spec.meetings.linkLifetime"),
		timeRules("spec.tokens.defaultLifetime"), timeRules("spec.tokens.maxLifetime"),
		list("a lifetime of tickets", "spec.meetings.ticketLifetime", "", "1s", "720h", "9600h"),
		list("no time", "spec.meetings.ticketLifetime", "should match", badTimes...),
		list("more than 400 days", "spec.meetings.ticketLifetime", "must be more than zero and at most 9600h (400 days), for example 720h", append([]any{"9600h1s", "9999h"}, zeroTimes...)...),
	))
}

func configRulesOfVariantB(t *testing.T, c *testkit.Cluster, r *refused) {
	checkRules(t, r, resource(t, c, "ConferenceConfig", fullB), creates(t, c), []rule{
		{"nothing is disabled", "spec.api.disabled", []string{}, ""},
		{"an endpoint that is misspelled", "spec.api.disabled", []string{"tokens"}, `at spec.api.disabled[]: supported values: "stats", "meetings", "meeting", "join", "token", "docs"`},
		{"every endpoint", "spec.api.disabled", []string{"stats", "meetings", "meeting", "join", "token", "docs"}, ""},
		{"keys from Secrets and from the file", "spec.api.keySecretRefs", refs("a"), ""},
		{"the file alone", "spec.api", absent, ""},
		{"the map of variant A", "spec.api.allowed", map[string]bool{"stats": true}, "at spec: api.allowed belongs to variant A; use api.disabled in variant B"},
		{"an empty map of variant A", "spec.api.allowed", map[string]bool{}, "at spec: api.allowed belongs to variant A"},
		{"the file of variant A", "spec.source", map[string]any{"configJS": map[string]any{"secretKeyRef": keyRef("x")}}, "at spec: source.configJS belongs to variant A; use source.env in variant B"},
		{"variant A with what belongs to B", "spec.variant", "A", "at spec: api.disabled belongs to variant B"},
		{"an environment from nowhere", "spec.source.env", map[string]any{}, "at spec.source.env: env needs exactly one of secretRef and from"},
		{"an environment named twice", "spec.source.env.from", []any{map[string]any{"secretRef": ref("env")}}, "at spec.source.env: env needs exactly one of secretRef and from"},
		{"an environment from several objects", "spec.source.env", map[string]any{"from": []any{map[string]any{"configMapRef": ref("env")}, map[string]any{"secretRef": ref("env")}}}, ""},
		{"a Secret and a ConfigMap in one entry", "spec.source.env", map[string]any{"from": []any{map[string]any{"configMapRef": ref("env"), "secretRef": ref("env")}}},
			"at spec.source.env.from[]: each entry needs exactly one of secretRef and configMapRef"},
		{"an entry without either", "spec.source.env", map[string]any{"from": []any{map[string]any{}}}, "at spec.source.env.from[]: each entry needs exactly one of secretRef and configMapRef"},
		{"no source of keys", "spec.source", absent, needsKeys},
	})
}

func ref(name string) map[string]string { return map[string]string{"name": name} }

func keyRef(name string) map[string]string { return map[string]string{"name": name, "key": "key"} }

func refs(names ...string) []map[string]string {
	all := []map[string]string{}
	for _, name := range names {
		all = append(all, keyRef(name))
	}
	return all
}
