// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	"convene.dev/convene/internal/testkit/manifests"
)

// helms are the tools of the major releases of Helm that docs/support.md promises. The slow tests have all of them.
var helms = []string{"helm"}

// withEachHelm runs a test with the path of each.
func withEachHelm(t *testing.T, test func(t *testing.T, helm string, forces []string)) {
	for _, name := range helms {
		t.Run(name, func(t *testing.T) {
			// Helm 4 applies as one owner of fields among others, and takes none away without the flag.
			forces := map[string][]string{"helm4": {"--force-conflicts"}}[name]
			test(t, manifests.Tool(t, name), forces)
		})
	}
}
