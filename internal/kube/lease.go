// SPDX-License-Identifier: Apache-2.0

package kube

// LeaseName is the Lease of the manager that leads.
const LeaseName = "controllers.convene.dev"
