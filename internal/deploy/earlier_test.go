// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
)

const (
	earlierConfig = `apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata: {name: earlier}
spec:
  variant: A
  baseURL: https://meet.example.com
  api: {keySecretRefs: [{name: api-key, key: key}]}
  host: {protected: true}
`
	earlierMedia = `apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata: {name: media}
spec:
  baseURL: https://media.example.com
  api: {keySecretRefs: [{name: api-key, key: key}]}
  media: {apiURL: "http://livekit:7880", secretRef: {name: livekit}}
`
	earlierLengths = `apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata: {name: lengths}
spec:
  baseURL: https://lengths.example.com
  api: {keySecretRefs: [{name: api-key, key: key}]}
  meetings: {maxDuration: "08:00:00"}
`
	earlierMeeting = `apiVersion: convene.dev/v1alpha1
kind: Meeting
metadata: {name: earlier}
spec: {room: weekly, duration: "01:30:00"}
`
	earlierKeys = `apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata: {name: keys}
spec:
  baseURL: https://keys.example.com
  api: {keySecretRefs: [{name: api-key, key: key}, {name: api-key, key: key}]}
`
	howToWrite = "here write 1h30m for 01:30:00"
)

// TestManifestsOfAnEarlierShapeAreRefused, by each way of applying them that the documents name, with what to do about it. A
// field that has gone is dropped only for clients that ask for no validation: the API server drops it before any rule sees it.
func TestManifestsOfAnEarlierShapeAreRefused(t *testing.T) {
	c := testkit.ControlPlane(t)
	strict, serverSide, warn, ignore := []string{}, []string{"--server-side"}, []string{"--validate=warn"}, []string{"--validate=ignore"}
	for _, tc := range []struct {
		reason, manifest string
		how              []string
		// says is part of what kubectl prints; refused is whether it fails.
		says    string
		refused bool
	}{
		{"a field that has gone", earlierConfig, strict, `unknown field "spec.host"`, true},
		{"a field that has gone, by server-side apply", earlierConfig, serverSide, ".spec.host: field not declared in schema", true},
		{"the media server inside a tenant", earlierMedia, strict, `unknown field "spec.media"`, true},
		{"the media server inside a tenant, by server-side apply", earlierMedia, serverSide, ".spec.media: field not declared in schema", true},
		{"a length in Meetings", earlierMeeting, strict, howToWrite, true},
		{"a length in Meetings, by server-side apply", earlierMeeting, serverSide, howToWrite, true},
		{"a length in Meetings, unvalidated", earlierMeeting, ignore, howToWrite, true},
		{"a length in ConferenceConfigs", earlierLengths, strict, howToWrite, true},
		{"a length in ConferenceConfigs, unvalidated", earlierLengths, ignore, howToWrite, true},
		{"one key twice", earlierKeys, strict, "Duplicate value", true},
		{"a field that has gone, with warnings", earlierConfig, warn, `unknown field "spec.host"`, false},
		{"a field that has gone, unvalidated", earlierConfig, ignore, "conferenceconfig.convene.dev/earlier", false},
	} {
		file := filepath.Join(t.TempDir(), "manifest.yaml")
		if err := os.WriteFile(file, []byte(tc.manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := c.TryKubectl(t, append([]string{"apply", "--filename", file}, tc.how...)...)
		if (err != nil) != tc.refused || !strings.Contains(out, tc.says) {
			t.Errorf("%s, kubectl apply %q: %v\n%s", tc.reason, tc.how, err, out)
		}
	}
	spec := c.Kubectl(t, "get", "conferenceconfig", "earlier", "--output=jsonpath={.spec}")
	if strings.Contains(spec, "host") || strings.Contains(spec, "access") {
		t.Errorf("the documents say that the field is dropped, and it is %s", spec)
	}
}
