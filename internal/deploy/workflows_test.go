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
	Jobs        map[string]job    `json:"jobs"`
}

type job struct {
	// Uses is another workflow in place of steps, and Needs the job to wait for.
	Uses           string `json:"uses"`
	Needs          string `json:"needs"`
	TimeoutMinutes any    `json:"timeout-minutes"`
	Strategy       struct {
		Matrix struct {
			Include []struct {
				Target  string `json:"target"`
				Minutes int    `json:"minutes"`
			} `json:"include"`
		} `json:"matrix"`
	} `json:"strategy"`
	Steps []struct {
		Uses string         `json:"uses"`
		Run  string         `json:"run"`
		With map[string]any `json:"with"`
	} `json:"steps"`
}

var (
	pinned   = regexp.MustCompile(`(?m)^\s*-? ?uses: (?:\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\S+)$`)
	anyUse   = regexp.MustCompile(`(?m)^\s*-? ?uses: .*$`)
	makeStep = regexp.MustCompile(`^(?:sudo -E env "PATH=\$PATH" )?make ([a-z0-9-]+|\$\{\{ matrix\.target \}\})$`)
)

// calls are the make targets of the job's steps; ok is false where a step is anything else.
func (j job) calls() (all []string, ok bool) {
	for _, s := range j.Steps {
		call := makeStep.FindStringSubmatch(s.Run)
		switch {
		case s.Run == "":
		case call == nil:
			return all, false
		case strings.HasPrefix(call[1], "$"):
			for _, part := range j.Strategy.Matrix.Include {
				all = append(all, part.Target)
			}
		default:
			all = append(all, call[1])
		}
	}
	return all, true
}

// endless reports whether a run of the job has no limit of its own.
func (j job) endless() bool {
	if j.Uses != "" {
		return false // The jobs of that workflow have theirs.
	}
	if _, number := j.TimeoutMinutes.(float64); number {
		return false
	}
	for _, part := range j.Strategy.Matrix.Include {
		if part.Minutes == 0 {
			return true
		}
	}
	return j.TimeoutMinutes != "${{ matrix.minutes }}"
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), ".github", "workflows", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	all := map[string]workflow{}
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
		all[name] = w
	}
	return all
}

// TestWorkflowsRunWhatRunsHere: each step is a make target, so that what a workflow does can be done by hand, and each
// action is one commit, which nobody can move.
func TestWorkflowsRunWhatRunsHere(t *testing.T) {
	known := targets(t)
	for name, w := range workflows(t) {
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: jobs that ask for nothing may do %v", name, w.Permissions)
		}
		for id, j := range w.Jobs {
			if j.endless() {
				t.Errorf("%s: %s may run for ever", name, id)
			}
			calls, ok := j.calls()
			if !ok || slices.ContainsFunc(calls, func(call string) bool { return !slices.Contains(known, call) }) {
				t.Errorf("%s: %s runs more than make targets: %q", name, id, calls)
			}
			for _, s := range j.Steps {
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
					t.Errorf("%s: %s leaves a token in the clone", name, id)
				}
			}
		}
	}
}

var partsOfAll = regexp.MustCompile(`(?m)^ALL := (.*)$`)

// TestEveryPartRunsAtNight: the nightly workflow has all parts of `make test-all`, and a release waits for it.
func TestEveryPartRunsAtNight(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testkit.Root(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := partsOfAll.FindSubmatch(text)
	if list == nil {
		t.Fatal("the Makefile has no list of the parts of test-all")
	}
	parts := slices.Sorted(strings.FieldsSeq(string(list[1])))
	all := workflows(t)
	nightly, _ := all["all.yaml"].Jobs["part"].calls()
	slices.Sort(nightly)
	if nightly = slices.Compact(nightly); len(parts) < 5 || !slices.Equal(nightly, parts) {
		t.Errorf("all.yaml runs %q, and `make test-all` %q", nightly, parts)
	}
	release := all["release.yaml"].Jobs
	if release[release["release"].Needs].Uses != "./.github/workflows/all.yaml" {
		t.Error("a release does not wait for all.yaml")
	}
}
