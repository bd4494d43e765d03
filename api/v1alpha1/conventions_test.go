// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit"
)

// booleanFields are all fields that are true or false, with the reason why no enumeration would say it better: can there ever be a
// third value?
var booleanFields = map[string]string{
	"ConferenceConfig.spec.api.allowed{}":     "the document of the API has the map with true and false, and operators bring theirs",
	"ConferenceConfig.spec.access.protected":  "either a login is needed, or it is not; who is let in is told by other fields",
	"MediaServer.spec.draining":               "it takes new meetings or not; where they may come from is told by another field",
	"ConferenceConfig.spec.meetings.locked":   "new participants are let in or not; who is let in where they wait is told by other fields",
	"Meeting.spec.locked":                     "as of the ConferenceConfig, which is meant where it is absent",
	"Meeting.spec.participants[].removed":     "let in or not",
	"Meeting.spec.participants[].muted":       "may speak or not",
	"Meeting.spec.participants[].promoted":    "the role was given in the room or from above it",
	"Meeting.spec.participants[].admitted":    "let in or not, where not everyone is",
	"Meeting.status.locked":                   "as in spec",
	"Meeting.status.participants[].presenter": "a right, as the session has it; other roles would be rights of their own",
	"Meeting.status.participants[].hidden":    "seen by others or not",
	"Meeting.status.participants[].audio":     "the microphone is on or off",
	"Meeting.status.participants[].video":     "the camera is on or off",
	"Meeting.status.participants[].screen":    "the screen is shared or not",
	"Meeting.status.participants[].hand":      "raised or not",
}

// numberFields are all fields that are numbers, with what each counts.
var numberFields = map[string]string{
	"ConferenceConfig.spec.api.rateLimit.requestsPerSecond":   "requests a second",
	"ConferenceConfig.spec.api.rateLimit.burst":               "requests",
	"ConferenceConfig.spec.meetings.ttlSecondsAfterEnded":     "seconds",
	"ConferenceConfig.spec.meetings.maxParticipants":          "participants",
	"ConferenceConfig.spec.meetings.maxMeetings":              "meetings",
	"ConferenceConfig.spec.meetings.maxAdHocRooms":            "rooms",
	"ConferenceConfig.status.meetings":                        "meetings",
	"ConferenceConfig.status.participants":                    "participants",
	"ConferenceConfig.status.observedGeneration":              "generations",
	"ConferenceConfig.status.conditions[].observedGeneration": "generations",
	"MediaServer.spec.capacity.maxParticipants":               "participants",
	"MediaServer.status.rooms":                                "rooms",
	"MediaServer.status.participants":                         "participants",
	"MediaServer.status.conferenceConfigs":                    "ConferenceConfigs",
	"MediaServer.status.observedGeneration":                   "generations",
	"MediaServer.status.conditions[].observedGeneration":      "generations",
	"Meeting.spec.maxParticipants":                            "participants",
	"Meeting.status.participantCount":                         "participants",
	"Meeting.status.waitingCount":                             "people",
	"Meeting.status.observedGeneration":                       "generations",
	"Meeting.status.conditions[].observedGeneration":          "generations",
}

// mapFields are all fields that are maps, with the reason why they are no lists: none holds objects.
var mapFields = map[string]string{
	"ConferenceConfig.spec.api.allowed": "the document of the API has a map",
}

// definitions are all CRDs of this repository.
func definitions(t *testing.T) (all []apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d definitions, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(data, &crd); err != nil {
			t.Fatal(err)
		}
		all = append(all, crd)
	}
	return all
}

// everyField calls f for every field of ours in all definitions, with its path: Kind.spec.field, and {} for a map's values.
func everyField(t *testing.T, f func(path string, s schema)) {
	t.Helper()
	for _, crd := range definitions(t) {
		for _, version := range crd.Spec.Versions {
			for _, part := range []string{"spec", "status"} {
				visit(crd.Spec.Names.Kind+"."+part, version.Schema.OpenAPIV3Schema.Properties[part], func(path string, s schema) {
					if strings.Contains(path, ".selector.") {
						return // A selector is Kubernetes' own.
					}
					f(path, s)
					if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
						f(path+"{}", *s.AdditionalProperties.Schema)
					}
				})
			}
		}
	}
}

// TestConventionsOfKinds: what clients of any kind of Kubernetes rely on.
func TestConventionsOfKinds(t *testing.T) {
	for _, crd := range definitions(t) {
		kind := crd.Spec.Names.Kind
		for _, version := range crd.Spec.Versions {
			if version.Subresources == nil || version.Subresources.Status == nil {
				t.Errorf("%s has no subresource status: who may write its spec could write what controllers say", kind)
			}
			status := version.Schema.OpenAPIV3Schema.Properties["status"]
			if _, ok := status.Properties["observedGeneration"]; !ok {
				t.Errorf("%s does not say which generation its status is about", kind)
			}
			conditions := status.Properties["conditions"]
			if ptr.Deref(conditions.XListType, "") != "map" || !slices.Equal(conditions.XListMapKeys, []string{"type"}) {
				t.Errorf("conditions of %s are no list map by type", kind)
			}
			if conditions.Items == nil {
				t.Fatalf("%s has no conditions", kind)
			}
			if diff := cmp.Diff([]string{"lastTransitionTime", "message", "reason", "status", "type"}, conditions.Items.Schema.Required); diff != "" {
				t.Errorf("conditions of %s are not those of Kubernetes (-want +got):\n%s", kind, diff)
			}
		}
		if !slices.Contains(crd.Spec.Names.Categories, "convene") || len(crd.Spec.Names.ShortNames) == 0 {
			t.Errorf("%s has no short name, or is not shown by kubectl get convene", kind)
		}
	}
}

// TestConventionsOfLists: server-side apply has to know how two owners share a list, and etcd how long it can get.
func TestConventionsOfLists(t *testing.T) {
	everyField(t, func(path string, s schema) {
		if s.Type != "array" {
			return
		}
		if s.MaxItems == nil {
			t.Errorf("%s has no greatest length", path)
		}
		switch kind := ptr.Deref(s.XListType, ""); kind {
		case "":
			t.Errorf("%s has no list type", path)
		case "set":
			if s.Items.Schema.Type == "object" {
				t.Errorf("%s is a set of objects: make it a list map", path)
			}
		case "map":
			for _, key := range s.XListMapKeys {
				if !slices.Contains(s.Items.Schema.Required, key) && s.Items.Schema.Properties[key].Default == nil {
					t.Errorf("%s has a key that may be absent: %s", path, key)
				}
			}
		}
	})
}

// TestConventionsOfTypes: no number without a unit, no text without an end, no floating point, no map of objects; every boolean and every map has
// its reason here.
func TestConventionsOfTypes(t *testing.T) {
	found := map[string]map[string]bool{"boolean": {}, "integer": {}, "map": {}}
	everyField(t, func(path string, s schema) {
		switch s.Type {
		case "boolean", "integer":
			found[s.Type][path] = true
		case "number":
			t.Errorf("%s is a floating point number: clients round them differently", path)
		case "string":
			if s.MaxLength == nil && len(s.Enum) == 0 && s.Format != "date-time" {
				t.Errorf("%s has no greatest length", path)
			}
		}
		if s.XPreserveUnknownFields != nil || s.XIntOrString {
			t.Errorf("%s takes anything", path)
		}
		if s.AdditionalProperties == nil {
			return
		}
		found["map"][path] = true
		if s.AdditionalProperties.Schema == nil || s.AdditionalProperties.Schema.Type == "object" {
			t.Errorf("%s is a map of objects: make it a list map", path)
		}
	})
	for kind, argued := range map[string]map[string]string{"boolean": booleanFields, "integer": numberFields, "map": mapFields} {
		for path := range found[kind] {
			if argued[path] == "" {
				t.Errorf("%s is a %s: say in the table above why it has to be", path, kind)
			}
		}
		for path := range argued {
			if !found[kind][path] {
				t.Errorf("%s is in the table above, and is no %s", path, kind)
			}
		}
	}
	for path, unit := range numberFields {
		if isTime := strings.HasPrefix(unit, "second") || strings.HasPrefix(unit, "minute"); isTime && !strings.Contains(strings.ToLower(last(path)), strings.TrimSuffix(unit, "s")) {
			t.Errorf("%s counts %s and does not say so in its name", path, unit)
		}
	}
}

func last(path string) string { return path[strings.LastIndex(path, ".")+1:] }

var (
	camelCase   = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	ofReference = []string{"group", "kind", "name", "namespace", "key"}
)

// TestConventionsOfNames: fields are written in camel case, and what refers to another object ends in Ref or Refs, and nothing else does.
func TestConventionsOfNames(t *testing.T) {
	references := 0
	everyField(t, func(path string, s schema) {
		name := strings.TrimSuffix(strings.TrimSuffix(last(path), "[]"), "{}")
		if !camelCase.MatchString(name) {
			t.Errorf("%s is not in camel case", path)
		}
		if s.Type != "object" || len(s.Properties) == 0 {
			return
		}
		refers := true
		for field := range s.Properties {
			refers = refers && slices.Contains(ofReference, field)
		}
		suffix := "Ref"
		if strings.HasSuffix(path, "[]") {
			suffix = "Refs"
		}
		if refers {
			references++
		}
		if refers != strings.HasSuffix(name, suffix) && path != "Meeting.status.mediaServer" { // where it is, as status.url
			t.Errorf("%s refers to another object: %t", path, refers)
		}
		if refers && !slices.Contains(s.Required, "name") {
			t.Errorf("%s may refer to nothing", path)
		}
	})
	if references < 10 {
		t.Errorf("only %d references were found", references)
	}
}
