// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"

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

	policy.Deny(0)
	denied := w.a.send("POST", "/api/v1/join", "application/json", `{"room":"denied","name":"Ada"}`)
	if denied.status != http.StatusInternalServerError || denied.header.Get("Retry-After") != "" || !strings.Contains(denied.raw, "tell the operator") || strings.Contains(denied.raw, "house") {
		t.Errorf("a denial is answered with %d, Retry-After %q: %s", denied.status, denied.header.Get("Retry-After"), denied.raw)
	}
	if !strings.Contains(w.manager.Log(), "the policy of the house") {
		t.Error("the log does not have the policy's text")
	}
}
