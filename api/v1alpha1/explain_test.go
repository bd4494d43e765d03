// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "object.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// unfit are left-overs in a description that people would read as they stand.
var unfit = regexp.MustCompile(`\+kubebuilder|\+optional|\+required|TODO|SPDX|\.\.\.$|…$`)

// Every field says what it is, whole, as kubectl explain shows it.
func TestEveryFieldIsDescribed(t *testing.T) {
	for _, plural := range []string{"conferenceconfigs", "meetings"} {
		root := schemaOf(t, plural)
		if len(root.Description) < 40 {
			t.Errorf("%s: %q", plural, root.Description)
		}
		visit("", root, func(path string, s schema) {
			name := path[strings.LastIndex(path, ".")+1:]
			switch {
			case path == "", strings.HasSuffix(path, "[]"), path == "apiVersion", path == "kind", path == "metadata", strings.Contains(path, "conditions[]"):
				return // not ours
			}
			begins := strings.HasPrefix(s.Description, name+" ") || strings.HasPrefix(s.Description, name+":")
			if !begins || !strings.HasSuffix(s.Description, ".") || unfit.MatchString(s.Description) {
				t.Errorf("%s of %s is described so: %q", path, plural, s.Description)
			}
		})
	}
}

func TestKubectlExplain(t *testing.T) {
	c := testkit.ControlPlane(t)
	// The API server publishes the schema of a new CRD a moment after it serves it.
	testkit.Eventually(t, time.Minute, func() error {
		_, err := c.TryKubectl(t, "explain", "mtg")
		if err == nil {
			_, err = c.TryKubectl(t, "explain", "confcfg")
		}
		return err
	})
	for what, wants := range map[string][]string{
		"meeting":                  {"Meeting is one meeting of one room", "spec", "status"},
		"mtg.spec.room":            {"FIELD: room <string>", "1 to 128 Unicode characters"},
		"mtg.spec.duration":        {"1h30m", "unlimited"},
		"mtg.status.phase":         {"ENUM:", "Pending", "Active", "Ending", "Ended"},
		"mtg.status.conditions":    {"Ready", "Occupied", "Ended"},
		"confcfg":                  {"one tenant of the conferencing service"},
		"confcfg.spec.variant":     {"ENUM:", "allow-map", "disable-list"},
		"confcfg.spec.hostnames":   {"exact beats wildcard"},
		"confcfg.spec.api.allowed": {"<map[string]boolean>", "an absent name is enabled"},
		"confcfg.spec.mediaRefs":   {"with the fewest participants"},
	} {
		text := c.Kubectl(t, "explain", what)
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("kubectl explain %s does not say %q:\n%s", what, want, text)
			}
		}
	}
}
