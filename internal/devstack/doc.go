// SPDX-License-Identifier: Apache-2.0

// Package devstack runs etcd and kube-apiserver (by envtest), and LiveKit, as child processes on the loopback interface, for
// `make run` and for tests. No child outlives the process that started it, however that process ends (on Linux; on
// other systems only when it ends in order).
package devstack
