// SPDX-License-Identifier: Apache-2.0

// Package deploy holds no code. Its tests prove what platform teams put on their clusters: the Helm chart, the
// kustomize base and its components, the alerts, and what GitOps tools read.
package deploy
