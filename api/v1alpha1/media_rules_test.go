// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"slices"
	"testing"

	"convene.dev/convene/internal/testkit"
)

const badOperator = "each of selector.matchExpressions must have the operator In or NotIn and values, or the operator Exists or DoesNotExist and none"

// selecting is spec.allowedNamespaces with one requirement.
func selecting(operator string, values ...string) map[string]any {
	requirement := map[string]any{"key": "a", "operator": operator}
	if len(values) > 0 {
		requirement["values"] = values
	}
	return map[string]any{"from": "Selector", "selector": map[string]any{"matchExpressions": []map[string]any{requirement}}}
}

func mediaRules(t *testing.T, c *testkit.Cluster, r *refused) {
	selector := map[string]any{"matchLabels": map[string]any{"video": "yes"}}
	checkRules(t, r, resource(t, c, "MediaServer", fullMediaServer), creates(t, c), slices.Concat(
		[]rule{
			{"without anything that is optional", "spec", map[string]any{"apiURL": "http://x:7880", "secretRef": ref("livekit")}, ""},
			{"its own namespace", "spec.allowedNamespaces", map[string]any{"from": "Same"}, ""},
			{"every namespace", "spec.allowedNamespaces", map[string]any{"from": "All"}, ""},
			{"nothing about namespaces", "spec.allowedNamespaces", map[string]any{}, ""},
			{"a selector that does not count", "spec.allowedNamespaces", map[string]any{"from": "All", "selector": selector}, "selector belongs to from: Selector; set both or neither"},
			{"a selector that is missing", "spec.allowedNamespaces", map[string]any{"from": "Selector"}, "selector belongs to from: Selector; set both or neither"},
			{"all ways to select", "spec.allowedNamespaces", map[string]any{"from": "Selector", "selector": map[string]any{"matchExpressions": []map[string]any{
				{"key": "a", "operator": "In", "values": []string{"b"}}, {"key": "a", "operator": "NotIn", "values": []string{"b"}},
				{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist", "values": []string{}},
			}}}, ""},
			{"an operator in small letters", "spec.allowedNamespaces", selecting("in", "b"), badOperator},
			{"an operator without values", "spec.allowedNamespaces", selecting("NotIn"), badOperator},
			{"an operator with values that has none", "spec.allowedNamespaces", selecting("Exists", "b"), badOperator},
			{"another word", "spec.allowedNamespaces.from", "Any", `supported values: "Same", "All", "Selector"`},
			{"certificates that are no base64", "spec.caBundle", "!", "Invalid value"},
			{"certificates in a list", "spec.caBundle", []string{"x"}, "must be text in base64, with PEM in it"},
		},
		list("LiveKit's API", "spec.apiURL", "", "http://livekit:7880", "https://livekit.example.com/path"),
		list("no API", "spec.apiURL", "apiURL must be an absolute http or https URL", "livekit:7880", "ws://livekit:7880", "http://:7880", "livekit.example.com"),
		list("an API with a user", "spec.apiURL", "apiURL must not contain a user", "http://anna:secret@livekit:7880"),
	))
}
