// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestMain runs the tests, which share an envtest.Environment: testkit.ControlPlane starts it with the CRDs of config/crd/bases.
func TestMain(m *testing.M) { testkit.Main(m) }
