// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"fmt"
	"os"
	"path/filepath"
)

// Binaries are the paths of the programs that a local stack runs.
type Binaries struct {
	Etcd, KubeAPIServer, Kubectl, LiveKit string
}

// ModuleRoot returns the folder of the go.mod at or above dir.
func ModuleRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod at or above %s: run this inside a clone of the repository", dir)
		}
	}
}

// FindBinaries finds the programs: the control plane's in $KUBEBUILDER_ASSETS where that is set, else in bin/ of the
// module root; LiveKit in bin/. kubectl may not be there yet: no other program needs it.
func FindBinaries(root string) (Binaries, error) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(root, "bin")
	}
	b := Binaries{
		Etcd:          filepath.Join(assets, "etcd"),
		KubeAPIServer: filepath.Join(assets, "kube-apiserver"),
		Kubectl:       filepath.Join(assets, "kubectl"),
		LiveKit:       filepath.Join(root, "bin", "livekit-server"),
	}
	if _, err := os.Stat(b.Kubectl); err != nil {
		b.Kubectl = filepath.Join(root, "bin", "kubectl")
	}
	for _, path := range []string{b.Etcd, b.KubeAPIServer, b.LiveKit} {
		if _, err := os.Stat(path); err != nil {
			return Binaries{}, fmt.Errorf("%w: run `make tools`", err)
		}
	}
	return b, nil
}
