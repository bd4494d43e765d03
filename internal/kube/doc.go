// SPDX-License-Identifier: Apache-2.0

// Package kube is what the manager needs of Kubernetes beside controller-runtime: the time of the cluster, connections that do
// not wait for ever, a small cache that outlives the loss of a Lease, writes of objects as they were read.
package kube
