// SPDX-License-Identifier: Apache-2.0

//go:build node

package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// fluxNamespace is where `flux bootstrap` puts Flux and what it reads.
const fluxNamespace = "flux-system"

// bootstrap is what `flux bootstrap` adds to a repository and to the cluster.
const bootstrap = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "https://git.example.com/platform/fleet", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, sourceRef: {kind: GitRepository, name: flux-system}, path: ./clusters/flux, prune: true}
`

// fluxNode is a Kubernetes node on which Flux' own controllers apply the example repository.
type fluxNode struct {
	*realNode
	// git has the repositories, fleet is the example.
	git, fleet string
	// example is where the example is in this repository.
	example string
}

// TestFluxMakesTheExampleReady has Flux' own controllers apply the example repository as it is to a real node, until everything in it
// is Ready; then a commit changes a tenant, and at last everything goes. The test is the Git server, and stands in for External Secrets.
func TestFluxMakesTheExampleReady(t *testing.T) {
	n := &fluxNode{
		realNode: &realNode{world: &world{Cluster: testkit.GivenCluster(t, "team-a")}, t: t, began: time.Now()},
		git:      t.TempDir(), example: filepath.Join(testkit.Root(t), "config", "gitops", "example"),
	}
	defer func() {
		if t.Failed() {
			n.describe()
			t.Log(n.kubectl("get", "gitrepositories,helmcharts,helmreleases,kustomizations", "-A"))
		}
	}()
	n.fleet = n.repository("fleet", n.example)
	n.images()
	n.serveGit()
	n.kubectl("create", "namespace", fluxNamespace)
	n.kubectl("apply", "--server-side", "-f", filepath.Join(testkit.Root(t), "bin", "flux-crds.yaml"),
		"-f", filepath.Join(testkit.Root(t), "internal", "deploy", "testdata", "crds", "external-secrets.yaml"))
	n.gateway()
	n.startFlux()
	n.applyText(bootstrap)
	n.standIn("media", "livekit", map[string]string{"apiKey": "platform", "apiSecret": "secret-of-the-platform-0123456789abcdef"})
	n.a = account{t: t, baseURL: "https://team-a.meet.example.com", key: "key-of-team-a-0123456789"}
	n.standIn("team-a", "api-key", map[string]string{"key": n.a.key})
	n.everythingIsReady()
	t.Logf("%5.1f s until everything was Ready", time.Since(n.began).Seconds())
	n.serves()
	n.commit()
	n.everythingGoes()
	t.Logf("%5.1f s in all", time.Since(n.began).Seconds())
}

// run runs a program of the machine.
func (n *fluxNode) run(dir, name string, args ...string) {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// repository makes one of the content of a folder.
func (n *fluxNode) repository(name, content string) string {
	n.t.Helper()
	dir := filepath.Join(n.git, "platform", name)
	if err := os.CopyFS(dir, os.DirFS(content)); err != nil {
		n.t.Fatal(err)
	}
	n.run(dir, "git", "init", "--quiet", "--initial-branch=main")
	n.commitAll(dir)
	return dir
}

func (n *fluxNode) commitAll(dir string) {
	n.t.Helper()
	n.run(dir, "git", "add", "--all")
	n.run(dir, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--message=Change")
}

// images gives the node's images the names that the example and the chart have, and makes the repository with the chart.
func (n *fluxNode) images() {
	n.t.Helper()
	var values, ofChart struct {
		Image  struct{ Repository, Tag string }
		Engine struct {
			Image struct{ Repository, Tag string }
		}
	}
	read := func(file string, into any) {
		raw, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(raw, into)
		}
		if err != nil {
			n.t.Fatal(err)
		}
	}
	read(filepath.Join(n.example, "infrastructure", "convene", "values.yaml"), &values)
	read(filepath.Join(manifests.Chart(n.t), "values.yaml"), &ofChart)
	livekit := ofChart.Engine.Image
	for from, to := range map[string]string{
		"localhost/convene:node":                values.Image.Repository + ":" + values.Image.Tag,
		"docker.io/livekit/livekit-server:node": livekit.Repository + ":" + livekit.Tag,
	} {
		n.run("", manifests.Tool(n.t, "ctr"), "--namespace=k8s.io", "images", "tag", from, to)
	}

	source := n.t.TempDir()
	if err := os.CopyFS(filepath.Join(source, "config", "chart"), os.DirFS(manifests.Chart(n.t))); err != nil {
		n.t.Fatal(err)
	}
	n.run(n.repository("convene", source), "git", "tag", values.Image.Tag)
}

// gateway is what the example expects of the cluster: a Gateway with a certificate for all tenants' hosts.
func (n *fluxNode) gateway() {
	n.t.Helper()
	n.apply("surroundings.yaml")
	n.kubectl("create", "namespace", "gateways")
	cert, key := filepath.Join(n.t.TempDir(), "tls.crt"), filepath.Join(n.t.TempDir(), "tls.key")
	n.trust(testkit.Certificate(n.t, cert, key, 2, "team-a.meet.example.com"))
	n.kubectl("create", "secret", "tls", "meet-tls", "-n", "gateways", "--cert", cert, "--key", key)
	testkit.Eventually(n.t, patience, func() error {
		_, err := n.command("kubectl", "explain", "gateways").CombinedOutput()
		return err
	})
	n.apply("gateway.yaml")
}

// serveGit is the Git server at the address that the example names.
func (n *fluxNode) serveGit() {
	n.t.Helper()
	folder, err := exec.CommandContext(n.t.Context(), "git", "--exec-path").Output()
	if err != nil {
		n.t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(folder)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + n.git, "GIT_HTTP_EXPORT_ALL=1"},
	}}
	cert, key := n.certificate()
	testkit.Certificate(n.t, cert, key, 1, "git.example.com")
	listener, err := (&net.ListenConfig{}).Listen(n.t.Context(), "tcp", nodeAddress+":443")
	if err != nil {
		n.t.Fatal(err)
	}
	go func() { _ = server.ServeTLS(listener, cert, key) }()
	n.t.Cleanup(func() { _ = server.Close() })
}

// certificate is where that of the Git server is.
func (n *fluxNode) certificate() (cert, key string) {
	return filepath.Join(n.git, "tls.crt"), filepath.Join(n.git, "tls.key")
}

// startFlux starts Flux' controllers beside the cluster, not in it: they need no image then.
func (n *fluxNode) startFlux() {
	n.t.Helper()
	cert, _ := n.certificate()
	for i, c := range []struct {
		name string
		args []string
	}{
		{"source-controller", []string{"--storage-path=" + n.t.TempDir(), "--storage-addr=127.0.0.1:9790", "--storage-adv-addr=127.0.0.1:9790"}},
		{"kustomize-controller", nil},
		{"helm-controller", nil},
	} {
		health := fmt.Sprintf("127.0.0.1:%d", 9440+i)
		_, err := devstack.Start(n.t.Context(), devstack.Command{
			Name: c.name, Path: manifests.Tool(n.t, c.name), LogDir: filepath.Join(testkit.Root(n.t), ".local", "node", "log"),
			Args: append(c.args, "--health-addr="+health, "--metrics-addr=127.0.0.1:0", "--enable-leader-election=false", "--requeue-dependency=1s"),
			Env:  []string{"KUBECONFIG=" + n.Kubeconfig, "RUNTIME_NAMESPACE=" + fluxNamespace, "SSL_CERT_FILE=" + cert},
			Ready: func(ctx context.Context) error {
				connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", health)
				if err == nil {
					_ = connection.Close()
				}
				return err
			},
		})
		if err != nil {
			n.t.Fatal(err)
		}
	}
}

// standIn makes the Secret that an ExternalSecret asks for, as External Secrets would.
func (n *fluxNode) standIn(namespace, name string, data map[string]string) {
	n.t.Helper()
	n.kubectl("wait", "--for=create", "-n", namespace, "externalsecret/"+name, "--timeout="+nodePatience.String())
	mine := *n.Cluster
	mine.Namespace = namespace
	externalSecret(n.t, &mine, name, data)
}

// everythingIsReady waits for all that Flux knows.
func (n *fluxNode) everythingIsReady() {
	n.t.Helper()
	// The last one that Flux applies.
	n.kubectl("wait", "--for=create", "-n", "team-a", "conferenceconfig/team-a", "--timeout="+nodePatience.String())
	n.kubectl("wait", "--for=condition=Ready", "-A", "--all", "gitrepositories,helmcharts,helmreleases,kustomizations", "--timeout="+nodePatience.String())
	n.kubectl("wait", "--for=condition=Ready", "-n", "team-a", "conferenceconfig/team-a", "meeting/stand-up", "meeting/all-hands", "--timeout=10s")
}

// serves asks the tenant through the Gateway, by the chart's HTTPRoute.
func (n *fluxNode) serves() {
	n.t.Helper()
	http.DefaultTransport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, nodeAddress+":30443")
	}
	testkit.Eventually(n.t, patience, func() error {
		return n.a.try("POST", "/api/v1/token", `{"username":"ada","password":"secret"}`)
	})
}

// commit takes an endpoint from the tenant by a change in Git.
func (n *fluxNode) commit() {
	n.t.Helper()
	file := filepath.Join(n.fleet, "tenants", "team-a", "conferenceconfig.yaml")
	raw, err := os.ReadFile(file)
	if err != nil {
		n.t.Fatal(err)
	}
	changed := strings.Replace(string(raw), "token: true", "token: false", 1)
	if changed == string(raw) {
		n.t.Fatal("the tenant of the example does not have the endpoint token")
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		n.t.Fatal(err)
	}
	n.commitAll(n.fleet)
	// What the Receiver of Flux does for a Git server's webhook.
	n.kubectl("annotate", "-n", fluxNamespace, "gitrepository/flux-system", "reconcile.fluxcd.io/requestedAt="+time.Now().Format(time.RFC3339Nano))
	testkit.Eventually(n.t, nodePatience, func() error {
		if r := n.a.call("POST", "/api/v1/token", map[string]any{"username": "ada", "password": "secret"}); r.status != http.StatusForbidden {
			return fmt.Errorf("the endpoint answers %d: %s", r.status, r.raw)
		}
		return nil
	})
}

// everythingGoes takes it all away by Flux, tenant first.
func (n *fluxNode) everythingGoes() {
	n.t.Helper()
	n.kubectl("patch", "kustomization", "-n", fluxNamespace, "flux-system", "--type=merge", "-p", `{"spec":{"suspend":true}}`)
	for _, name := range []string{"team-a", "onboarding-team-a", "media", "convene"} {
		n.kubectl("delete", "kustomization", "-n", fluxNamespace, name, "--timeout="+nodePatience.String())
	}
	testkit.Eventually(n.t, nodePatience, func() error {
		var left corev1.PodList
		if err := n.Client.List(n.t.Context(), &left, client.MatchingLabels{"app.kubernetes.io/name": "convene"}); err != nil {
			return err
		}
		if len(left.Items) > 0 {
			return fmt.Errorf("%d pods are left", len(left.Items))
		}
		return nil
	})
}
