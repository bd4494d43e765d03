// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestTheExampleRepositoryBecomesReady: the example repository is applied to an empty cluster in the order of its dependencies, the
// managers run with what the release says and with its rights alone, and everything becomes Ready. The test stands in for External
// Secrets, and LiveKit has another address; nothing else is changed.
func TestTheExampleRepositoryBecomesReady(t *testing.T) {
	t.Parallel()
	c := testkit.EmptyControlPlane(t)
	b := &book{&world{Cluster: c, livekit: testkit.LiveKit(t, testkit.LiveKitOptions{})}, t, manifests.SystemNamespace}
	if _, err := envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{
		Paths: []string{filepath.Join(testkit.Root(t), "internal", "deploy", "testdata", "crds")}, ErrorIfPathMissing: true,
	}); err != nil {
		t.Fatal(err)
	}
	example := filepath.Join(testkit.Root(t), "config", "gitops", "example")
	apply := func(folder, namespace, patches string) {
		t.Helper()
		c.Namespace = namespace
		out := manifests.Overlay(t, filepath.Join("config", "gitops"), "resources: [../example/"+folder+"]\n"+patches)
		file := filepath.Join(t.TempDir(), "objects.yaml")
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Kubectl(t, "apply", "--server-side", "--filename", file)
	}
	secret := func(name string, data map[string]string) { externalSecret(t, c, name, data) }
	apply("infrastructure/namespaces", "media", "")
	secret("livekit", map[string]string{"apiKey": b.livekit.Key, "apiSecret": b.livekit.Secret})
	// What Flux' HelmRelease does.
	if _, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), "install", "convene", manifests.Chart(t), "--kubeconfig", c.Kubeconfig,
		"--namespace", manifests.SystemNamespace, "--values", filepath.Join(example, "infrastructure", "convene", "values.yaml")); err != nil {
		t.Fatalf("%v: %s", err, complaint)
	}
	b.runDeployment()
	apply("infrastructure/media", "media", fmt.Sprintf(`patches:
- target: {kind: MediaServer}
  patch: |-
    - {op: replace, path: /spec/apiURL, value: %q}
`, b.livekit.URL))
	c.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "mediaserver/livekit")
	apply("onboarding/team-a", "team-a", "")
	apply("tenants/team-a", "team-a", "")
	// A Secret that is late is no error.
	secret("api-key", map[string]string{"key": "key-of-team-a-0123456789"})
	c.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "conferenceconfig/team-a", "meeting/stand-up", "meeting/all-hands")
}
