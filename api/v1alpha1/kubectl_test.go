// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// oneOfEach makes one object of each kind, with every field.
func oneOfEach(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	for kind, text := range map[string][2]string{"Meeting": {fullMeeting, fullMeetingStatus}, "ConferenceConfig": {fullA, fullConfigStatus}, "MediaServer": {fullMediaServer, fullMediaServerStatus}} {
		o := resource(t, c, kind, text[0])
		o.SetGenerateName("")
		o.SetName(map[string]string{"Meeting": "standup", "ConferenceConfig": "default", "MediaServer": "livekit"}[kind])
		var status map[string]any
		if err := yaml.Unmarshal([]byte(text[1]), &status); err != nil {
			t.Fatal(err)
		}
		stored(t, c, o, status)
	}
}

// table reads what kubectl get prints, a row a line, without the age.
func table(t *testing.T, c *testkit.Cluster, args ...string) (rows []string) {
	t.Helper()
	for line := range strings.Lines(c.Kubectl(t, append([]string{"get"}, args...)...)) {
		fields := strings.FieldsFunc(strings.TrimSpace(line), func(r rune) bool { return r == ' ' })
		rows = append(rows, strings.Join(fields, " "))
	}
	return rows
}

func TestPrinterColumns(t *testing.T) {
	c := testkit.ControlPlane(t)
	oneOfEach(t, c)
	for _, tc := range []struct {
		reason       string
		args         []string
		header, line string
	}{
		{"Meetings", []string{"meetings"}, "NAME ROOM PHASE PARTICIPANTS DURATION EXPIRES AGE",
			"standup Daily Standup Ending 1 1h30m 2026-11-21T11:30:00Z"},
		{"a Meeting, by its short name", []string{"mtg", "standup"}, "NAME ROOM PHASE PARTICIPANTS DURATION EXPIRES AGE",
			"standup Daily Standup Ending 1 1h30m 2026-11-21T11:30:00Z"},
		{"Meetings, wide", []string{"mtg", "-o", "wide"}, "NAME ROOM PHASE PARTICIPANTS DURATION EXPIRES AGE CONFIG END MEDIA WAITING URL MESSAGE",
			"default Expired livekit 1 https://meet.example.com/join/Daily%20Standup The meeting is being ended"},
		{"MediaServers", []string{"mediaservers"}, "NAME API-URL READY DRAINING ROOMS PARTICIPANTS AGE", "livekit https://livekit:7880 True true 1 2"},
		{"a MediaServer, by its short name, wide", []string{"media", "livekit", "-o", "wide"},
			"NAME API-URL READY DRAINING ROOMS PARTICIPANTS AGE FROM MESSAGE", "Selector LiveKit answers"},
		{"ConferenceConfigs", []string{"conferenceconfigs"}, "NAME VARIANT BASE-URL READY MEETINGS PARTICIPANTS AGE",
			"default A https://meet.example.com/video True 1 1"},
		{"a ConferenceConfig, by its short name, wide", []string{"confcfg", "default", "-o", "wide"},
			"NAME VARIANT BASE-URL READY MEETINGS PARTICIPANTS AGE ENDPOINTS MESSAGE", `["docs"] Serving`},
	} {
		rows := table(t, c, tc.args...)
		if len(rows) != 2 || rows[0] != tc.header || !strings.Contains(rows[1], tc.line) {
			t.Errorf("%s: %q is not %q and a line with %q", tc.reason, rows, tc.header, tc.line)
		}
	}
	all := strings.Join(table(t, c, "convene"), "\n")
	for _, want := range []string{"meeting.convene.dev/standup", "conferenceconfig.convene.dev/default"} {
		if !strings.Contains(all, want) {
			t.Errorf("kubectl get convene has no %s:\n%s", want, all)
		}
	}
}

func TestSelectableFields(t *testing.T) {
	c := testkit.ControlPlane(t)
	for _, m := range []struct{ name, room, phase string }{
		{"one", "Daily Standup", "Active"}, {"two", "Daily Standup", "Ended"}, {"three", "会議室", "Active"},
	} {
		o := resource(t, c, "Meeting", "{room: "+m.room+"}")
		o.SetGenerateName("")
		o.SetName(m.name)
		stored(t, c, o, map[string]any{"phase": m.phase, "participantCount": 0})
	}
	for selector, want := range map[string]string{
		"spec.room=Daily Standup":                            "one two",
		"spec.room=会議室":                                      "three",
		"status.phase=Active":                                "one three",
		"spec.room=Daily Standup,status.phase=Ended":         "two",
		"spec.room!=Daily Standup,status.phase!=Ended":       "three",
		"status.phase=Pending":                               "",
		"metadata.namespace=" + c.Namespace + ",spec.room=x": "",
	} {
		got := c.Kubectl(t, "get", "mtg", "--field-selector", selector, "-o", "jsonpath={.items[*].metadata.name}")
		if !sameWords(got, want) {
			t.Errorf("%s selects %q, want %q", selector, got, want)
		}
	}
	var typed v1alpha1.MeetingList
	if err := c.Client.List(t.Context(), &typed, client.InNamespace(c.Namespace), client.MatchingFields{"status.phase": "Ended"}); err != nil || len(typed.Items) != 1 {
		t.Errorf("%d Meetings, %v", len(typed.Items), err)
	}
}

func sameWords(a, b string) bool {
	left, right := strings.Fields(a), strings.Fields(b)
	for _, w := range right {
		if !strings.Contains(" "+a+" ", " "+w+" ") {
			return false
		}
	}
	return len(left) == len(right)
}

func TestDefaults(t *testing.T) {
	c := testkit.ControlPlane(t)
	c.Kubectl(t, "apply", "-f", write(t, "apiVersion: convene.dev/v1alpha1\nkind: Meeting\nmetadata: {name: plain}\nspec: {room: x}\n"))
	typed := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "typed"}, Spec: v1alpha1.MeetingSpec{Room: "x"}}
	if err := c.Client.Create(t.Context(), typed); err != nil {
		t.Fatalf("a Meeting without a reference, from Go: %v", err)
	}
	for _, name := range []string{"plain", "typed"} {
		// The spec is what the user said, and the reference that every Meeting has.
		if got, want := c.Kubectl(t, "get", "mtg", name, "-o", "jsonpath={.spec}"), `{"configRef":{"name":"default"},"room":"x"}`; got != want {
			t.Errorf("the spec of %s is %s, want %s", name, got, want)
		}
	}
	spec := "{baseURL: 'http://x.example', api: {keySecretRefs: [{name: a, key: b}]}}"
	o := stored(t, c, resource(t, c, "ConferenceConfig", spec), nil)
	got := c.Kubectl(t, "get", "confcfg", o.GetName(), "-o", "jsonpath={.spec}")
	if want := `{"api":{"keySecretRefs":[{"key":"b","name":"a"}]},"baseURL":"http://x.example","variant":"A"}`; got != want {
		t.Errorf("the spec is %s, want %s", got, want)
	}
}
