// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// push runs hack/release-push with a helm and a cosign that note what they were called with.
func push(t *testing.T, helmSays string) (called string, err error) {
	t.Helper()
	dir := t.TempDir()
	notes := filepath.Join(dir, "called")
	for name, text := range map[string]string{
		"helm":              "#!/bin/sh\necho helm \"$@\" >>" + notes + "\n" + helmSays + "\n",
		"cosign":            "#!/bin/sh\necho cosign \"$@\" >>" + notes + "\n",
		"metadata.json":     `{"containerimage.digest": "sha256:1111"}`,
		"convene-1.2.3.tgz": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := exec.CommandContext(t.Context(), filepath.Join(testkit.Root(t), "hack", "release-push"),
		filepath.Join(dir, "helm"), dir, "ghcr.io/example/convene", filepath.Join(dir, "metadata.json"))
	script.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := script.CombinedOutput()
	t.Logf("%s", out)
	text, readErr := os.ReadFile(notes)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return strings.ReplaceAll(string(text), dir, "DIR"), err
}

// TestWhatIsPublishedIsSignedByItsDigest: a tag could be moved between push and signature.
func TestWhatIsPublishedIsSignedByItsDigest(t *testing.T) {
	called, err := push(t, "echo Pushed: ghcr.io/example/charts/convene:1.2.3; echo Digest: sha256:2222")
	want := `cosign sign --yes ghcr.io/example/convene@sha256:1111
cosign attest --yes --type cyclonedx --predicate DIR/manager.cdx.json ghcr.io/example/convene@sha256:1111
helm push DIR/convene-1.2.3.tgz oci://ghcr.io/example/charts
cosign sign --yes ghcr.io/example/charts/convene@sha256:2222
cosign sign-blob --yes --bundle DIR/SHA256SUMS.sigstore.json DIR/SHA256SUMS
`
	if err != nil || called != want {
		t.Errorf("%v\n%s", err, called)
	}
	for _, fails := range []string{"exit 1", "echo Pushed"} {
		if called, err := push(t, fails); err == nil || strings.Contains(called, "charts/convene@") || strings.Contains(called, "sign-blob") {
			t.Errorf("helm that does %q: %v\n%s", fails, err, called)
		}
	}
}
