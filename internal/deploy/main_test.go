// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// patience bounds waits. It is not a measurement.
const patience = 30 * time.Second
