// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"convene.dev/convene/internal/devstack"
)

// shared is what the tests of one package share: started when first asked for, ended by Main.
var shared struct {
	mu      sync.Mutex
	running bool
	dir     string
	closers []func()
	cluster *Cluster
	browser *BrowserProcess
	manager string
}

// Main runs the tests of a package, which are a *testing.M, and then ends what they shared. It does not return. The logs of
// controller-runtime and client-go are left out: a test that fails says itself what it saw.
func Main(m interface{ Run() int }) {
	shared.mu.Lock()
	shared.running = true
	shared.mu.Unlock()
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for i := len(shared.closers) - 1; i >= 0; i-- {
		shared.closers[i]()
	}
	if shared.dir != "" {
		if err := os.RemoveAll(shared.dir); err != nil {
			fmt.Fprintln(os.Stderr, "testkit:", err)
		}
	}
	os.Exit(code)
}

// sharedDir returns the folder of what this test process shares. The caller holds shared.mu.
func sharedDir(t testing.TB) string {
	t.Helper()
	if !shared.running {
		t.Fatal("this package needs `func TestMain(m *testing.M) { testkit.Main(m) }`")
	}
	if shared.dir == "" {
		dir, err := newTempDir()
		if err != nil {
			t.Fatal(err)
		}
		shared.dir = dir
	}
	return shared.dir
}

// newTempDir makes a folder that is known to be this process's, and outlives the test that asks.
func newTempDir() (string, error) {
	removeOrphanedDirs()
	return os.MkdirTemp("", fmt.Sprintf("convene-test-%d-", os.Getpid()))
}

// removeOrphanedDirs removes the folders of test processes that were killed. Their children died with them.
func removeOrphanedDirs() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), "convene-test-*-*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), "convene-test-%d-", &pid); err != nil {
			continue
		}
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			_ = os.RemoveAll(dir)
		}
	}
}

// Root returns the module root.
func Root(t testing.TB) string {
	t.Helper()
	root, err := devstack.ModuleRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// DependOnTree is for tests that build a program from this module and run it, which Go's test cache cannot see: it
// keys on the variables that a test reads, and make sets this one to a hash of the sources.
func DependOnTree() { _ = os.Getenv("CONVENE_TREE") }

// Assets returns the folder of etcd, kube-apiserver and kubectl: $KUBEBUILDER_ASSETS, else bin/ of the module root.
func Assets(t testing.TB) string {
	t.Helper()
	return filepath.Dir(binaries(t).KubeAPIServer)
}

func binaries(t testing.TB) devstack.Binaries {
	t.Helper()
	b, err := devstack.FindBinaries(Root(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.Kubectl); err != nil {
		t.Fatalf("%v: run `make tools`", err)
	}
	return b
}
