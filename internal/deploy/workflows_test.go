// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit"
)

// workflow is what matters here of one in .github/workflows.
type workflow struct {
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]struct {
		TimeoutMinutes int `json:"timeout-minutes"`
		Steps          []struct {
			Uses string         `json:"uses"`
			Run  string         `json:"run"`
			With map[string]any `json:"with"`
		} `json:"steps"`
	} `json:"jobs"`
}

var (
	pinned   = regexp.MustCompile(`(?m)^\s*-? ?uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	anyUse   = regexp.MustCompile(`(?m)^\s*-? ?uses: .*$`)
	makeStep = regexp.MustCompile(`^(?:sudo -E env "PATH=\$PATH" )?make ([a-z-]+)$`)
)

// TestWorkflowsRunWhatRunsHere: each step is a make target, so that what a workflow does can be done by hand, and each
// action is one commit, which nobody can move.
func TestWorkflowsRunWhatRunsHere(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), ".github", "workflows", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	known := targets(t)
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range anyUse.FindAllString(string(text), -1) {
			if !pinned.MatchString(use) {
				t.Errorf("%s: %q is not pinned to a commit with its version beside it", name, strings.TrimSpace(use))
			}
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatal(err)
		}
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: jobs that ask for nothing may do %v", name, w.Permissions)
		}
		for job, j := range w.Jobs {
			if j.TimeoutMinutes == 0 {
				t.Errorf("%s: %s may run for ever", name, job)
			}
			for _, s := range j.Steps {
				call := makeStep.FindStringSubmatch(s.Run)
				if s.Run != "" && (call == nil || !slices.Contains(known, call[1])) {
					t.Errorf("%s: %q is no make target", name, s.Run)
				}
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
					t.Errorf("%s: %s leaves a token in the clone", name, job)
				}
			}
		}
	}
}
