// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"os"
	"testing"

	"convene.dev/convene/internal/source/sandbox"
	"convene.dev/convene/internal/testkit"
)

// TestMain makes the test program able to be the process of an evaluation, as cmd/manager is.
func TestMain(m *testing.M) {
	if sandbox.Requested(os.Args) {
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	testkit.Main(m)
}
