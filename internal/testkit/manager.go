// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/devstack"
)

// ManagerOptions of a manager for a test.
type ManagerOptions struct {
	// Kubeconfig of the account that it runs under; empty means the administrator's.
	Kubeconfig string
	// DefaultConfig is --default-config.
	DefaultConfig string
	// Addresses that the gateway listens on; empty means one free port.
	Addresses []string
	// Args are further flags.
	Args []string
	// Env is added to the environment.
	Env []string
	// Binary is the path of a manager that was built before; empty means the one of the tree under test.
	Binary string
}

// ManagerProcess is the real binary, built from the tree under test unless the options name another, as a child process.
type ManagerProcess struct {
	// URL (http) of the gateway's first address.
	URL string
	// Addresses that the gateway listens on.
	Addresses []string
	// HealthURL has /healthz and /readyz, MetricsURL /metrics.
	HealthURL, MetricsURL string

	binary string
	logDir string
	args   []string
	env    []string
	proc   *devstack.Process
}

// Manager builds the manager and starts it on a control plane. It ends with the test; when the test fails, its log is
// printed.
func Manager(t testing.TB, c *Cluster, o ManagerOptions) *ManagerProcess {
	t.Helper()
	m := newManager(t, c, o)
	m.Start(t)
	return m
}

// UnreadyManager is Manager for one that cannot become ready.
func UnreadyManager(t testing.TB, c *Cluster, o ManagerOptions) *ManagerProcess {
	t.Helper()
	m := newManager(t, c, o)
	if err := m.start(t.Context(), devstack.Command{Grace: grace}); err != nil {
		t.Fatal(err)
	}
	return m
}

// Managers starts several managers behind a Balancer that listens on the addresses of the options. One of the managers leads.
func Managers(t testing.TB, c *Cluster, o ManagerOptions, count int) (*Balancer, []*ManagerProcess) {
	t.Helper()
	b := NewBalancer(t, o.Addresses...)
	o.Addresses = nil
	o.Args = append(slices.Clone(o.Args), "--leader-elect", "--leader-election-namespace", c.Namespace)
	all := make([]*ManagerProcess, count)
	started := make(chan error, count)
	for i := range all {
		all[i] = newManager(t, c, o)
		b.Add(t, all[i].URL, all[i].HealthURL+"/readyz")
		go func() { started <- all[i].TryStart() }()
	}
	for range all {
		if err := <-started; err != nil {
			t.Fatal(err)
		}
	}
	Eventually(t, time.Minute, b.Ready(count))
	return b, all
}

func newManager(t testing.TB, c *Cluster, o ManagerOptions) *ManagerProcess {
	t.Helper()
	ports, err := devstack.RandomPorts(3)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Addresses) == 0 {
		o.Addresses = []string{fmt.Sprintf("127.0.0.1:%d", ports[0])}
	}
	if o.Kubeconfig == "" {
		o.Kubeconfig = c.Kubeconfig
	}
	m := &ManagerProcess{
		URL: "http://" + o.Addresses[0], Addresses: o.Addresses, logDir: t.TempDir(), env: o.Env,
		MetricsURL: fmt.Sprintf("http://127.0.0.1:%d/metrics", ports[1]), HealthURL: fmt.Sprintf("http://127.0.0.1:%d", ports[2]),
	}
	m.UseBinary(t, o.Binary)
	m.args = append([]string{
		"--kubeconfig", o.Kubeconfig,
		"--gateway-bind-address", strings.Join(o.Addresses, ","),
		"--metrics-bind-address", fmt.Sprintf("127.0.0.1:%d", ports[1]),
		"--health-probe-bind-address", fmt.Sprintf("127.0.0.1:%d", ports[2]),
		"--namespace", c.Namespace,
	}, o.Args...)
	if o.DefaultConfig != "" {
		m.args = append(m.args, "--default-config", o.DefaultConfig)
	}
	t.Cleanup(func() {
		if m.proc == nil {
			return
		}
		m.proc.Stop()
		if t.Failed() {
			t.Logf("The manager's log:\n%s", withoutProbes(m.proc.Log()))
		}
	})
	return m
}

// withoutProbes drops what a manager writes of each look at its readiness: it hides why a test failed.
func withoutProbes(log string) string {
	var kept strings.Builder
	for line := range strings.Lines(log) {
		if !strings.Contains(line, "healthz check failed") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// Start starts the manager again after Stop or Kill and returns once it is ready.
func (m *ManagerProcess) Start(t testing.TB) {
	t.Helper()
	if err := m.TryStart(); err != nil {
		t.Fatal(err)
	}
}

// TryStart is Start for goroutines that cannot end the test.
func (m *ManagerProcess) TryStart() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return m.start(ctx, devstack.Command{Ready: func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.HealthURL+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("readyz answers %s", response.Status)
		}
		return nil
	}})
}

func (m *ManagerProcess) start(ctx context.Context, c devstack.Command) error {
	c.Name, c.Path, c.Args, c.Env, c.LogDir = "manager", m.binary, m.args, m.env, m.logDir
	proc, err := devstack.Start(ctx, c)
	if err == nil {
		m.proc = proc
	}
	return err
}

// grace is terminationGracePeriodSeconds of the chart.
const grace = time.Minute

// AddArgs gives the manager further flags at its next start.
func (m *ManagerProcess) AddArgs(args ...string) { m.args = append(m.args, args...) }

// UseBinary has the manager run another binary at its next start; empty means the one of the tree under test.
func (m *ManagerProcess) UseBinary(t testing.TB, path string) {
	t.Helper()
	if path == "" {
		path = managerBinary(t)
	}
	m.binary = path
}

// Stop ends the manager in order.
func (m *ManagerProcess) Stop() { m.proc.Stop() }

// End is Stop for a manager that must end by itself, and within its grace. Its error says how it ended otherwise.
func (m *ManagerProcess) End() error {
	m.proc.Stop()
	return m.proc.Exit()
}

// Kill ends the manager without warning (SIGKILL).
func (m *ManagerProcess) Kill() { m.proc.Kill() }

// Binary is the path of the manager, for runs of another kind.
func (m *ManagerProcess) Binary() string { return m.binary }

// PID of the manager's process.
func (m *ManagerProcess) PID() int { return m.proc.PID() }

// Log returns what the manager has written since it was last started.
func (m *ManagerProcess) Log() string { return m.proc.Log() }

// managerBinary builds the manager, once for the tests of a package; Go's build cache makes the next one quick.
func managerBinary(t testing.TB) string {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.manager != "" {
		return shared.manager
	}
	binary := filepath.Join(sharedDir(t), "manager")
	DependOnTree()
	args := []string{"build", "-ldflags", "-s -w", "-o", binary}
	if RaceEnabled {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./cmd/manager")...)
	build.Dir = Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the manager does not build: %v\n%s", err, out)
	}
	shared.manager = binary
	return binary
}
