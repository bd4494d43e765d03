// SPDX-License-Identifier: Apache-2.0

// Command chart brings into the Helm chart what has its source elsewhere: CRDs, roles, alerts
// and the dashboard. Helm reads nothing outside of a chart, so they are copies. It also writes the table of values in
// the chart's README from the comments in values.yaml. Run it with `make chart`.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const chart = "config/chart"

// copied are the folders under files/ of the chart and what goes into them.
var copied = map[string][]string{
	"crds":       {"config/crd/bases/*.yaml"},
	"rbac":       {"config/rbac/role.yaml", "config/rbac/namespaces_role.yaml", "config/rbac/leader_election_role.yaml", "config/rbac/user_roles.yaml"},
	"policy":     {"config/components/allowed-hosts/policy.yaml"},
	"monitoring": {"config/components/monitoring/rules.yaml", "config/components/monitoring/dashboard.json"},
}

func main() {
	for folder, patterns := range copied {
		if err := fill(filepath.Join(chart, "files", folder), patterns); err != nil {
			fail(err)
		}
	}
	if err := writeTable(filepath.Join(chart, "values.yaml"), filepath.Join(chart, "README.md")); err != nil {
		fail(err)
	}
}

// fill makes the folder again, so that what has gone from the source goes from the chart.
func fill(folder string, patterns []string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("%s is missing: run this at the root of the repository", pattern)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "chart:", err)
	os.Exit(1)
}
