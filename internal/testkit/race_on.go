// SPDX-License-Identifier: Apache-2.0

//go:build race

package testkit

// RaceEnabled says that tests, and the manager that they build, run under the race detector.
const RaceEnabled = true
