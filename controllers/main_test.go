// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
