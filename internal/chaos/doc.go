// SPDX-License-Identifier: Apache-2.0

// Package chaos has no code: its tests run Convene's binary on a real kube-apiserver, etcd and LiveKit, and place
// faults. make test-faults runs all of them (build tag faults), make test a short part.
package chaos
