// SPDX-License-Identifier: Apache-2.0

package web

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// schema is as much of a schema as session.yaml uses.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Enum       []string          `json:"enum"`
	MaxLength  int               `json:"maxLength"`
	MaxItems   int               `json:"maxItems"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	AnyOf      []schema          `json:"anyOf"`
}

// TestSessionSchema holds session.yaml, from which the page's types are made, against what is sent and read here.
func TestSessionSchema(t *testing.T) {
	source, err := os.ReadFile("session.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]schema }
	}
	if err := yaml.Unmarshal(source, &document); err != nil {
		t.Fatal(err)
	}
	schemas := document.Components.Schemas
	for name, value := range map[string]any{
		"SessionRequest": entryRequest{}, "Session": sessionAnswer{}, "Engine": engineAnswer{}, "ConnectionTest": testAnswer{}, "Meeting": meetingAnswer{},
		"You": youAnswer{}, "State": stateAnswer{}, "Watcher": hiddenPeer{}, "ActRequest": actRequest{}, "Refusal": errorBody{},
		"Waiting": waitingAnswer{}, "Wait": waitAnswer{}, "Renewed": renewedAnswer{}, "WaitingPeople": waitingPeople{}, "WaitingPerson": waitingPerson{},
		"History": passedHistory{}, "ChatMessage": chatMessage{}, "ChatRequest": chatRequest{}, "MessageRequest": messageRequest{},
		"HistoryRequest": askRequest{}, "HandRequest": handRequest{}, "ReactionRequest": reactionRequest{},
		"Muted": mutedAnswer{}, "Saved": savedAnswer{},
	} {
		t.Run(name, func(t *testing.T) {
			described := schemas[name]
			fields := fieldsOf(value)
			if name == "SessionRequest" {
				for _, f := range new(meeting.JoinOptions).Flags() {
					if f.Given {
						delete(fields, f.Name) // A page that sends it gets nothing by it.
					}
				}
			}
			if diff := cmp.Diff(keys(fields), keys(described.Properties)); diff != "" {
				t.Errorf("properties (-code +schema)\n%s", diff)
			}
			for property, field := range fields {
				if got, want := kindOf(schemas, described.Properties[property]), field.kind; got != want {
					t.Errorf("%s is described as %s, and is %s", property, got, want)
				}
				always := slices.Contains(described.Required, property)
				if !strings.HasSuffix(name, "Request") && always == field.optional {
					t.Errorf("%s: required %t, left out when empty %t", property, always, field.optional)
				}
			}
		})
	}
	if diff := cmp.Diff(pageReasons, schemas["Reason"].Enum); diff != "" {
		t.Errorf("reasons (-code +schema)\n%s", diff)
	}
	if diff := cmp.Diff((engine.Media | engine.Chat).Names(), schemas["Ability"].Enum); diff != "" {
		t.Errorf("abilities (-code +schema)\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(schemas["Ability"].Enum)), keys(schemas["Policy"].Properties)); diff != "" {
		t.Errorf("a policy is about (-abilities +policy)\n%s", diff)
	}
	states := []string{string(sessionLive), string(sessionWaiting), string(sessionAdmitted), string(sessionEnded), string(sessionRemoved)}
	if diff := cmp.Diff(states, schemas["State"].Properties["state"].Enum); diff != "" {
		t.Errorf("states (-code +schema)\n%s", diff)
	}
	if got := schemas["MessageRequest"].Properties["text"].MaxLength; got != admission.MaxMessageLength {
		t.Errorf("a message to the presenters has at most %d characters, %d in the schema", admission.MaxMessageLength, got)
	}
	if got := schemas["ChatRequest"].Properties["text"].MaxLength; got != maxChatLength {
		t.Errorf("a message has at most %d characters, %d in the schema", maxChatLength, got)
	}
	if got := schemas["History"].Properties["messages"].MaxItems; got != maxHistory {
		t.Errorf("at most %d messages are passed on, %d in the schema", maxHistory, got)
	}
	if diff := cmp.Diff(reactions, schemas["ReactionRequest"].Properties["reaction"].Enum); diff != "" {
		t.Errorf("reactions (-code +schema)\n%s", diff)
	}
	for _, r := range newSite(t).pages().Routes {
		if strings.HasPrefix(r.Path, "/session") && document.Paths[r.Path][strings.ToLower(r.Method)] == nil {
			t.Errorf("%s %s is not described", r.Method, r.Path)
		}
	}
}

type sentField struct {
	kind     string
	optional bool
}

// fieldsOf are the fields of a struct as they go over the wire.
func fieldsOf(value any) map[string]sentField {
	out := map[string]sentField{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(value)) {
		if f.Anonymous {
			continue // Its fields follow.
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		said := kind.Kind().String()
		switch {
		case kind == reflect.TypeFor[time.Time]():
			said = "date-time"
		case said == "struct":
			said = "object"
		case said == "slice":
			said = "array"
		case said == "bool":
			said = "boolean"
		case said == "int":
			said = "integer"
		}
		out[name] = sentField{kind: said, optional: options != ""}
	}
	return out
}

func kindOf(schemas map[string]schema, s schema) string {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		s = schemas[name]
	}
	if len(s.AnyOf) > 0 {
		return kindOf(schemas, s.AnyOf[0])
	}
	if s.Format != "" {
		return s.Format
	}
	return s.Type
}

func keys[V any](m map[string]V) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
