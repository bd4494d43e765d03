// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// QuotaFull returns how the API server refuses a Meeting for which a ResourceQuota has no room.
func (c *Cluster) QuotaFull(t testing.TB) metav1.Status {
	t.Helper()
	return c.refused(t, c.FullQuota(t, c.NewNamespace(t), "count/meetings.convene.dev").Namespace, "exceeded quota")
}

// FullQuota makes a ResourceQuota that has no room for objects of a resource in a namespace.
func (c *Cluster) FullQuota(t testing.TB, namespace string, count corev1.ResourceName) *corev1.ResourceQuota {
	t.Helper()
	none := corev1.ResourceList{count: resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "full"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	c.Create(t, quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none} // No controller that counts runs here.
	must(t, c.Client.Status().Update(t.Context(), quota))
	return quota
}

// WebhookDown returns how the API server refuses a Meeting where it does not reach an admission webhook.
func (c *Cluster) WebhookDown(t testing.TB) metav1.Status {
	t.Helper()
	namespace := c.NewNamespace(t)
	c.validatingWebhook(t, namespace, admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1")},
		Writes(admissionregistrationv1.OperationAll, "meetings"))
	return c.refused(t, namespace, "failed calling webhook")
}

// refused waits until no Meeting can be made in a namespace, and returns what the API server says about it.
func (c *Cluster) refused(t testing.TB, namespace, because string) (status metav1.Status) {
	t.Helper()
	Eventually(t, time.Minute, func() error {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "probe-"}, Spec: v1alpha1.MeetingSpec{Room: "probe"}}
		m.Spec.ConfigRef.Name = "none"
		err := c.Client.Create(t.Context(), m)
		if refusal := apierrors.APIStatus(nil); errors.As(err, &refusal) && strings.Contains(err.Error(), because) {
			status = refusal.Status()
			return nil
		}
		return fmt.Errorf("nothing says %q: %w", because, errors.Join(errors.New("the Meeting is not refused"), err))
	})
	return status
}
