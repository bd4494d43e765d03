// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"convene.dev/convene/api/v1alpha1"
)

// MayBeUsed is nil when a Secret has the label with which custom resources of a kind may name it; else the error says how to add the
// label. The managers read Secrets with rights of their own. Without the label, whoever may write such a custom resource would have the
// managers use a Secret that is for something else.
func MayBeUsed(secret *corev1.Secret, by string) error {
	label := v1alpha1.LabelUsedBy + "=" + by
	switch has := secret.Labels[v1alpha1.LabelUsedBy]; has {
	case by:
		return nil
	case "":
		//nolint:staticcheck // Secret is the name of a kind.
		return fmt.Errorf("Secret %q lacks the label %s, without which no %s may use it; if it is for that, add the label: kubectl -n %s label secret %s %s",
			secret.Name, label, by, secret.Namespace, secret.Name, label)
	default:
		//nolint:staticcheck // Secret is the name of a kind.
		return fmt.Errorf("Secret %q has the label %s=%s, so no %s may use it; name one with the label %s", secret.Name, v1alpha1.LabelUsedBy, has, by, label)
	}
}
