// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
