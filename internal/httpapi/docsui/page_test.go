// SPDX-License-Identifier: Apache-2.0

// Package docsui_test uses the documentation page as people do: in a browser.
package docsui_test

import (
	"testing"

	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
