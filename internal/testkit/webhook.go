// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Webhook is an admission webhook of somebody else: it decides on writes in a test's namespace.
type Webhook struct {
	verdict atomic.Pointer[verdict]
}

type verdict struct {
	refusal *metav1.Status
	after   time.Duration
}

// Writes is the rule for an operation on resources, or for all operations, as a ValidatingWebhookConfiguration has it.
func Writes(operation admissionregistrationv1.OperationType, resources ...string) admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{operation},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: resources},
	}
}

// AdmissionWebhook starts a webhook that is asked about what the rules name, and admits it. AdmissionWebhook returns when the API server
// asks it.
func (c *Cluster) AdmissionWebhook(t testing.TB, rules ...admissionregistrationv1.RuleWithOperations) *Webhook {
	t.Helper()
	w, asked := &Webhook{}, make(chan struct{}, 1)
	w.Admit(0)
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	Certificate(t, certFile, keyFile, 1)
	certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
	must(t, err)
	bundle, err := os.ReadFile(certFile)
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		w.answer(rw, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
	server.StartTLS()
	t.Cleanup(server.Close)

	// By configmaps, it is found out that the API server asks.
	c.validatingWebhook(t, c.Namespace, admissionregistrationv1.WebhookClientConfig{URL: new(server.URL), CABundle: bundle},
		append(rules, Writes(admissionregistrationv1.Create, "configmaps"))...)
	Eventually(t, time.Minute, func() error {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, GenerateName: "probe-"}}
		if err := c.Client.Create(t.Context(), probe, client.DryRunAll); err != nil {
			return err
		}
		select {
		case <-asked:
			return nil
		default:
			return errors.New("the API server does not ask the webhook yet")
		}
	})
	return w
}

// validatingWebhook has the API server ask a webhook about what the rules name in a namespace, until the test ends.
func (c *Cluster) validatingWebhook(
	t testing.TB, namespace string, at admissionregistrationv1.WebhookClientConfig, rules ...admissionregistrationv1.RuleWithOperations,
) {
	t.Helper()
	meta := metav1.ObjectMeta{GenerateName: "policy-of-" + namespace + "-"}
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionregistrationv1.ValidatingWebhook{{
		Name:                    "policy.example.com",
		ClientConfig:            at,
		NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		Rules:                   rules,
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
	}}}
	c.Create(t, hook)
	t.Cleanup(func() { _ = c.Client.Delete(context.Background(), hook) })
}

// Deny has the webhook deny with a code; 0 is none.
func (w *Webhook) Deny(code int32) {
	w.verdict.Store(&verdict{refusal: &metav1.Status{Code: code, Message: "the policy of the house"}})
}

// Admit has the webhook admit, each time after a while.
func (w *Webhook) Admit(after time.Duration) { w.verdict.Store(&verdict{after: after}) }

func (w *Webhook) answer(rw http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(rw, "no review", http.StatusBadRequest)
		return
	}
	v := w.verdict.Load()
	select {
	case <-time.After(v.after):
	case <-r.Context().Done():
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: v.refusal == nil, Result: v.refusal}
	_ = json.NewEncoder(rw).Encode(review)
}
