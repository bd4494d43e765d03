// SPDX-License-Identifier: Apache-2.0

// Package testkit gives tests a real control plane, real LiveKit servers and real browsers. Nothing here is a fake.
//
// A package that uses ControlPlane or Browser has:
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
package testkit
