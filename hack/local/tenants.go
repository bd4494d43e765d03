// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

// The names in config/samples.
const (
	namespace = "convene"
	tenantA   = "default"
	tenantB   = "variant-b"

	secretAPIKeyA = "default-api-key"
	secretEnvB    = "variant-b-env"
	secretLiveKit = "livekit"
)

func (s *stack) baseURL(port string) string { return fmt.Sprintf("http://localhost:%d", s.ports[port]) }

// applyTenants applies config/samples with this installation's keys and addresses in it.
func (s *stack) applyTenants(ctx context.Context) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	samples := filepath.Join(s.root, "config", "samples")
	secrets, err := s.secrets(filepath.Join(samples, "variant_b.env"))
	if err != nil {
		return err
	}
	for _, o := range append([]*unstructured.Unstructured{object("v1", "Namespace", "", namespace, nil)}, secrets...) {
		if err := apply(ctx, c, o); err != nil {
			return err
		}
	}
	for file, address := range map[string]string{
		"media_server.yaml": "http://" + loopback(s.ports[portLiveKit]), "variant_a.yaml": s.baseURL(portA), "variant_b.yaml": s.baseURL(portB),
	} {
		b, err := os.ReadFile(filepath.Join(samples, file))
		if err != nil {
			return err
		}
		objects, err := decode(b)
		if err != nil {
			return fmt.Errorf("config/samples/%s: %w", file, err)
		}
		for _, o := range objects {
			if err := place(ctx, c, o, address); err != nil {
				return fmt.Errorf("config/samples/%s: %w", file, err)
			}
		}
	}
	return nil
}

// place creates a ConferenceConfig or a MediaServer. One that is there keeps what its owner has changed; only the address on this
// machine is set, which this start has chosen.
func place(ctx context.Context, c client.Client, sample *unstructured.Unstructured, address string) error {
	there := sample.DeepCopy()
	err := c.Get(ctx, client.ObjectKeyFromObject(sample), there)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	wanted := there.DeepCopy()
	readdress(wanted, "http://localhost:", address, "spec", "baseURL")
	readdress(wanted, "http://127.0.0.1:", address, "spec", "apiURL")
	if err != nil {
		return c.Create(ctx, wanted, fieldOwner)
	}
	return c.Patch(ctx, wanted, client.MergeFrom(there), fieldOwner)
}

// readdress sets a field that holds an address beginning with prefix.
func readdress(o *unstructured.Unstructured, prefix, address string, field ...string) {
	now, found, err := unstructured.NestedString(o.Object, field...)
	if err == nil && found && strings.HasPrefix(now, prefix) {
		_ = unstructured.SetNestedField(o.Object, address, field...) // cannot fail: the parents are there
	}
}

// secrets are those that the samples name.
func (s *stack) secrets(envFile string) ([]*unstructured.Unstructured, error) {
	env, err := os.ReadFile(envFile)
	if err != nil {
		return nil, err
	}
	k := s.state.Keys
	return []*unstructured.Unstructured{
		secret(v1alpha1.UsedByConferenceConfig, secretAPIKeyA, map[string]any{"key": k.APIKeyA}),
		secret(v1alpha1.UsedByConferenceConfig, secretEnvB, map[string]any{".env": string(env), "API_KEY_SECRET": k.APIKeyB}),
		secret(v1alpha1.UsedByMediaServer, secretLiveKit, map[string]any{"apiKey": k.LiveKitKey, "apiSecret": k.LiveKitSecret}),
	}, nil
}

func secret(usedBy, name string, values map[string]any) *unstructured.Unstructured {
	o := object("v1", "Secret", namespace, name, map[string]any{"type": "Opaque", "stringData": values})
	o.SetLabels(map[string]string{v1alpha1.LabelUsedBy: usedBy})
	return o
}

func object(apiVersion, kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	for k, v := range fields {
		o.Object[k] = v
	}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// complainAfter is when a person is told what the start waits for. It goes on waiting: the cluster is up, and kubectl
// is how to fix a tenant.
const complainAfter = 20 * time.Second

// awaitTenants waits until both tenants are ready and their addresses answer.
func (s *stack) awaitTenants(ctx context.Context) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	for name, port := range map[string]string{tenantA: portA, tenantB: portB} {
		o := object("convene.dev/v1alpha1", "ConferenceConfig", namespace, name, nil)
		ready := func() error {
			return errors.Join(condition(ctx, c, o, "Ready"), answers(ctx, s.baseURL(port)+"/api/v1/stats", s.apiKey(port)))
		}
		patient, cancel := context.WithTimeout(ctx, complainAfter)
		err := poll(patient, ready)
		cancel()
		if err == nil {
			continue
		}
		fmt.Fprintf(s.out, "waiting: %v\nmend it with: KUBECONFIG=%s %s edit conferenceconfig %s\n", err, s.kubeconfig(), s.binaries.Kubectl, name)
		if err := poll(ctx, ready); err != nil {
			return err
		}
	}
	return nil
}

func (s *stack) apiKey(port string) string {
	if port == portB {
		return s.state.Keys.APIKeyB
	}
	return s.state.Keys.APIKeyA
}
