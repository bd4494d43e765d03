// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"convene.dev/convene/internal/testkit"
)

// TestPoliciesOfTheCluster: backends wait for an admission webhook that is slow, are told of a denial as of what does not pass, and the
// operator finds the policy's text in the log.
func TestPoliciesOfTheCluster(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	policy := w.AdmissionWebhook(t, testkit.Writes(admissionv1.OperationAll, "meetings", "secrets"))
	policy.Admit(2 * time.Second)
	w.a.insist(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "slow", "name": "Ada"})

	// A quota is a limit that somebody has set on purpose: no error of ours, and it passes.
	policy.Admit(0)
	for resource, body := range map[corev1.ResourceName]string{
		"count/meetings.convene.dev": `{"room":"full","name":"Ada"}`, "count/secrets": `{"room":"secret","name":"Ada","roomPassword":"sesame"}`,
	} {
		quota := w.FullQuota(t, w.Namespace, resource)
		w.eventually(t, func() error {
			full := w.a.send("POST", "/api/v1/join", "application/json", body)
			if full.status == http.StatusTooManyRequests && full.header.Get("Retry-After") != "" && strings.Contains(full.raw, "ask the operator to raise the quota") {
				return nil
			}
			return fmt.Errorf("with no room in %s: %d, Retry-After %q: %s", resource, full.status, full.header.Get("Retry-After"), full.raw)
		})
		if !strings.Contains(w.manager.Log(), "exceeded quota: full") {
			t.Error("the log does not name the quota")
		}
		if err := w.Client.Delete(t.Context(), quota); err != nil {
			t.Fatal(err)
		}
		w.eventually(t, func() error {
			if joined := w.a.send("POST", "/api/v1/join", "application/json", body); joined.status != http.StatusOK {
				return fmt.Errorf("once there is room in %s: %d %s", resource, joined.status, joined.raw)
			}
			return nil
		})
	}

	policy.Deny(0)
	denied := w.a.send("POST", "/api/v1/join", "application/json", `{"room":"denied","name":"Ada"}`)
	if denied.status != http.StatusInternalServerError || denied.header.Get("Retry-After") != "" || !strings.Contains(denied.raw, "tell the operator") || strings.Contains(denied.raw, "house") {
		t.Errorf("a denial is answered with %d, Retry-After %q: %s", denied.status, denied.header.Get("Retry-After"), denied.raw)
	}
	if !strings.Contains(w.manager.Log(), "the policy of the house") {
		t.Error("the log does not have the policy's text")
	}
}
