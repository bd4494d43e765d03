// SPDX-License-Identifier: Apache-2.0

// Package e2e proves what Convene promises from the outside: the real manager binary on a real control plane with a
// real LiveKit, asked over HTTP, kubectl and a browser.
package e2e
