// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/devstack"
)

// Cluster is a control plane with Convene's CRDs, and a namespace in it for one test.
type Cluster struct {
	// Config of an administrator, without a client-side rate limit.
	Config *rest.Config
	// Client is live, not cached, and knows the core types, CRDs and Convene's types.
	Client client.Client
	// Kubeconfig is the path of a file with the same rights as Config.
	Kubeconfig string
	// Namespace was made for this test.
	Namespace string

	env     *devstack.Environment
	kubectl string
}

// Scheme returns the types that Cluster.Client knows.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// ControlPlane returns the control plane that the tests of this package share, with a new namespace for this test.
// Namespaces are not removed: that takes a controller that does not run here.
func ControlPlane(t testing.TB) *Cluster {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster == nil {
		c, err := startCluster(t, filepath.Join(sharedDir(t), "cluster"), defineTypes(t))
		if err != nil {
			t.Fatal(err)
		}
		shared.cluster = c
		shared.closers = append(shared.closers, c.kill)
	}
	c := *shared.cluster
	c.Namespace = c.NewNamespace(t)
	return &c
}

// OwnControlPlane returns a control plane for this test alone, whose parts can be killed and started again. It can be changed
// before it starts.
func OwnControlPlane(t testing.TB, change ...func(*envtest.Environment)) *Cluster {
	t.Helper()
	return EmptyControlPlane(t, append(change, defineTypes(t))...)
}

// EmptyControlPlane is like OwnControlPlane, without Convene's CRDs: for tests that install them.
func EmptyControlPlane(t testing.TB, change ...func(*envtest.Environment)) *Cluster {
	t.Helper()
	c, err := startCluster(t, t.TempDir(), change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.kill()
		if t.Failed() {
			t.Logf("the end of kube-apiserver's log:\n%s", c.env.APIServerLog())
		}
	})
	c.Namespace = c.NewNamespace(t)
	return c
}

// GivenCluster is the cluster that KUBECONFIG names, for a test whose caller has started one. Nothing is installed
// in it.
func GivenCluster(t testing.TB, namespace string) *Cluster {
	t.Helper()
	c := &Cluster{
		Kubeconfig: os.Getenv("KUBECONFIG"), Namespace: namespace, kubectl: binaries(t).Kubectl,
	}
	var err error
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	c.Config.QPS = -1
	if c.Client, err = client.New(c.Config, client.Options{Scheme: Scheme()}); err != nil {
		t.Fatal(err)
	}
	return c
}

// defineTypes has the environment install Convene's CRDs.
func defineTypes(t testing.TB) func(*envtest.Environment) {
	t.Helper()
	crds := filepath.Join(Root(t), "config", "crd", "bases")
	return func(e *envtest.Environment) {
		e.CRDDirectoryPaths, e.ErrorIfCRDPathMissing = []string{crds}, true
	}
}

func startCluster(t testing.TB, dir string, change ...func(*envtest.Environment)) (*Cluster, error) {
	t.Helper()
	ports, err := devstack.RandomPorts(2)
	if err != nil {
		return nil, err
	}
	env, err := devstack.NewEnvironment(binaries(t), dir, ports[0], ports[1])
	if err != nil {
		return nil, err
	}
	for _, f := range change {
		f(&env.Environment)
	}
	c := &Cluster{env: env, Kubeconfig: filepath.Join(dir, "kubeconfig"), kubectl: binaries(t).Kubectl}
	if err := c.start(); err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start() (err error) {
	if c.Config, err = c.env.Start(); err != nil {
		return err
	}
	c.Config.QPS = -1
	if c.Client, err = client.New(c.Config, client.Options{Scheme: Scheme()}); err != nil {
		return err
	}
	return os.WriteFile(c.Kubeconfig, c.env.KubeConfig, 0o600)
}

// Create makes objects.
func (c *Cluster) Create(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// Secret makes one in the test's namespace that objects of a kind may name.
func (c *Cluster) Secret(t testing.TB, usedBy, name string, data map[string]string) {
	t.Helper()
	c.Create(t, SecretFor(usedBy, c.Namespace, name, data))
}

// SecretFor is a Secret that objects of a kind may name.
func SecretFor(usedBy, namespace, name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{v1alpha1.LabelUsedBy: usedBy}},
		StringData: data,
	}
}

// NewNamespace makes one more namespace and returns its name.
func (c *Cluster) NewNamespace(t testing.TB) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Client.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// As is the same cluster as a user has it.
func (c *Cluster) As(t testing.TB, user string) *Cluster {
	t.Helper()
	theirs := *c
	theirs.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	theirs.Config = rest.CopyConfig(c.Config)
	theirs.Config.Impersonate = rest.ImpersonationConfig{UserName: user}
	kubeconfig, err := clientcmd.LoadFromFile(c.Kubeconfig)
	must(t, err)
	for _, credentials := range kubeconfig.AuthInfos {
		credentials.Impersonate = user
	}
	must(t, clientcmd.WriteToFile(*kubeconfig, theirs.Kubeconfig))
	theirs.Client, err = client.New(theirs.Config, client.Options{Scheme: Scheme()})
	must(t, err)
	return &theirs
}

// Kubectl runs kubectl in the test's namespace and returns what it prints. An exit status other than 0 fails the test.
func (c *Cluster) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	out, err := c.TryKubectl(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TryKubectl is Kubectl for commands that may fail; the error holds what kubectl said.
func (c *Cluster) TryKubectl(t testing.TB, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"--kubeconfig", c.Kubeconfig, "--namespace", c.Namespace}, args...)
	cmd := exec.CommandContext(t.Context(), c.kubectl, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %q: %w\n%s", args[4:], err, out)
	}
	return string(out), nil
}

// KillEtcd and KillAPIServer kill without warning (SIGKILL). For control planes from OwnControlPlane.
func (c *Cluster) KillEtcd(t testing.TB) { t.Helper(); must(t, c.env.KillEtcd()) }

// KillAPIServer kills the kube-apiserver.
func (c *Cluster) KillAPIServer(t testing.TB) { t.Helper(); must(t, c.env.KillAPIServer()) }

// StartEtcd starts etcd again on the same port and data.
func (c *Cluster) StartEtcd(t testing.TB) { t.Helper(); must(t, c.env.StartEtcd()) }

// StartAPIServer starts the kube-apiserver again on the same port and returns once it is ready.
func (c *Cluster) StartAPIServer(t testing.TB) { t.Helper(); must(t, c.env.StartAPIServer()) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// SaveEtcd copies what etcd holds, and returns what puts the copy back in the place of all that came after. Both stop the
// control plane for a moment.
func (c *Cluster) SaveEtcd(t testing.TB) (restore func()) {
	t.Helper()
	data, saved := c.env.ControlPlane.Etcd.DataDir, filepath.Join(t.TempDir(), "etcd")
	swap := func(from, to string) {
		t.Helper()
		c.KillAPIServer(t)
		c.KillEtcd(t)
		must(t, errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))))
		c.StartEtcd(t)
		c.StartAPIServer(t)
	}
	swap(data, saved)
	return func() { t.Helper(); swap(saved, data) }
}

// kill is how tests end a control plane: what it holds is thrown away.
func (c *Cluster) kill() {
	if err := errors.Join(c.env.KillAPIServer(), c.env.KillEtcd()); err != nil {
		fmt.Fprintln(os.Stderr, "testkit:", err)
	}
}

// EtcdMetrics returns the URL at which etcd has its metrics, at /metrics.
func (c *Cluster) EtcdMetrics() string { return c.env.ControlPlane.Etcd.URL.String() }
