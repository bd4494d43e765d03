// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// unused are rights that no request of the manager shows, and why it has them all the same.
var unused = map[string]string{
	"convene.dev/meetings/finalizers update":          "asked for by clusters that check who may block an owner's deletion (OpenShift); on here too",
	"convene.dev/conferenceconfigs/finalizers update": "asked for by clusters that check who may block an owner's deletion (OpenShift); on here too",
	"events.k8s.io/events patch":                      "an Event that happens again within minutes is patched",
	"convene.dev/meetings list":                       "where the API server cannot stream lists",
	"/configmaps list":                                "where the API server cannot stream lists",
	"/secrets list":                                   "where the API server cannot stream lists",
	"convene.dev/mediaservers list":                   "where the API server cannot stream lists",
	"/namespaces list":                                "where the API server cannot stream lists",
}

// TestRightsAreEnoughAndNoMore has the manager run under its own service account, with the rights that the chart
// gives it, through a meeting's life and back, and compares the rights with what it asked of the API server.
func TestRightsAreEnoughAndNoMore(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	for _, mode := range []struct {
		name string
		// values of the chart, and flags of the manager, for a namespace.
		values, flags func(namespace string) []string
	}{
		{
			"cluster",
			func(string) []string { return nil },
			// The flag that the testkit sets is overruled.
			func(string) []string { return []string{"--namespace="} },
		},
		{
			"one namespace",
			func(namespace string) []string { return []string{"--set", "watchNamespace=" + namespace} },
			func(namespace string) []string { return []string{"--namespace=" + namespace} },
		},
		{
			"Secrets of one namespace",
			func(namespace string) []string { return []string{"--set", "rbac.secretNamespaces={" + namespace + "}"} },
			func(string) []string { return []string{"--namespace="} },
		},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "audit.log")
			cluster := auditedControlPlane(t, log)
			// The managers' namespace is another one than the tenants'.
			home := cluster.NewNamespace(t)
			granted := grant(t, cluster, manifests.Helm(t, home, mode.values(cluster.Namespace)...))
			account := serviceAccountKubeconfig(t, cluster, home, "convene")
			configJS(t, cluster)
			w := newWorldWith(t, cluster, testkit.ManagerOptions{
				Kubeconfig: account,
				Args:       append(mode.flags(cluster.Namespace), "--leader-elect", "--leader-election-namespace="+home),
			}, needsEverything)
			liveFully(t, w)
			ofEarlierVersions(t, w)
			oneTooMany(t, w)
			w.manager.Stop()
			used, refused := audited(t, log, "system:serviceaccount:"+home+":convene")
			for what := range refused {
				t.Errorf("refused: %s", what)
			}
			for right := range used {
				if !granted[right] {
					t.Errorf("used without being granted: %s", right)
				}
			}
			for right := range granted {
				if !used[right] && unused[right] == "" {
					t.Errorf("granted and never used: %s", right)
				}
			}
			if t.Failed() {
				t.Logf("used: %q", slices.Sorted(maps.Keys(used)))
			}
		})
	}
}

// ofEarlierVersions has objects with the finalizer of earlier versions, which the manager takes off, also where they are being deleted.
func ofEarlierVersions(t *testing.T, w *world) {
	t.Helper()
	finalizers := []string{v1alpha1.Finalizer}
	earlier, deleted, m := w.config("earlier"), w.config("earlier-deleted"), w.meeting("earlier-deleted")
	w.manager.Stop()
	for _, o := range []client.Object{earlier, deleted, m} {
		o.SetFinalizers(finalizers)
		w.Create(t, o)
	}
	for _, o := range []client.Object{deleted, m} {
		if err := w.Client.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.manager.Start(t)
	w.eventually(t, func() error {
		if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(earlier), earlier); err != nil || len(earlier.Finalizers) > 0 {
			return fmt.Errorf("it has the finalizers %q (%w)", earlier.Finalizers, err)
		}
		for _, o := range []client.Object{deleted, m} {
			if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is there (%w)", o.GetName(), err)
			}
		}
		return nil
	})
}

// oneTooMany has one MediaServer more than a namespace may have, which the manager says in that one's status.
func oneTooMany(t *testing.T, w *world) {
	t.Helper()
	var last *v1alpha1.MediaServer
	for i := range kube.MaxMediaServers {
		last = testkit.MediaServer(w.Namespace, w.livekit.URL)
		last.Name = fmt.Sprint("many-", i)
		w.Create(t, last)
	}
	w.eventually(t, w.says(last, v1alpha1.ConditionReady, v1alpha1.ReasonNamespaceFull))
}

// auditedControlPlane writes down every request of service accounts, and asks for what OpenShift asks for.
func auditedControlPlane(t *testing.T, log string) *testkit.Cluster {
	t.Helper()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(`
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, userGroups: ["system:serviceaccounts"]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	return testkit.OwnControlPlane(t, func(e *envtest.Environment) {
		e.ControlPlane.APIServer.Configure().Set("audit-policy-file", policy).Set("audit-log-path", log).
			Set("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	})
}

// grant creates service accounts and roles, and says what the manager's allow.
func grant(t *testing.T, c *testkit.Cluster, all []*unstructured.Unstructured) map[string]bool {
	t.Helper()
	granted := map[string]bool{}
	for _, kind := range []string{"ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"} {
		for _, o := range manifests.OfKind(all, kind) {
			if err := c.Client.Create(t.Context(), o.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(kind, "Role") && !isForUsers(o) {
				rules(t, o, granted)
			}
		}
	}
	return granted
}

// isForUsers: roles that Kubernetes adds to its own, or that administrators bind, are not the manager's.
func isForUsers(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(o.GetName(), "media-admin") || isAggregated(o)
}

// isAggregated: roles that Kubernetes adds to its own view, edit and admin.
func isAggregated(o client.Object) bool {
	for label := range o.GetLabels() {
		if strings.HasPrefix(label, "rbac.authorization.k8s.io/aggregate-to-") {
			return true
		}
	}
	return false
}

func rules(t *testing.T, o *unstructured.Unstructured, into map[string]bool) {
	t.Helper()
	encoded, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := json.Unmarshal(encoded, &role); err != nil {
		t.Fatal(err)
	}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if strings.Contains(group+resource+verb, "*") {
						t.Errorf("%s has a wildcard", o.GetName())
					}
					into[group+"/"+resource+" "+verb] = true
				}
			}
		}
	}
}

// serviceAccountKubeconfig asks for a token as kubelet does and writes a kubeconfig with it.
func serviceAccountKubeconfig(t *testing.T, c *testkit.Cluster, namespace, name string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(3600))}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := c.Client.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for user := range config.AuthInfos {
		config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// audited are the rights that a user's requests used, and the requests that were refused.
func audited(t *testing.T, log, user string) (used, refused map[string]bool) {
	t.Helper()
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	used, refused = map[string]bool{}, map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			User           struct{ Username string }
			Verb           string
			RequestURI     string
			ObjectRef      *struct{ APIGroup, Resource, Subresource string }
			ResponseStatus *struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.User.Username != user {
			continue
		}
		if event.ResponseStatus != nil && event.ResponseStatus.Code == http.StatusForbidden {
			refused[event.Verb+" "+event.RequestURI] = true
		}
		// Discovery is everybody's.
		if o := event.ObjectRef; o != nil && o.Resource != "" {
			used[strings.TrimSuffix(o.APIGroup+"/"+o.Resource+"/"+o.Subresource, "/")+" "+event.Verb] = true
		}
	}
	return used, refused
}

// configJS makes what tenant A's source names: a ConfigMap with the file, and a Secret with its environment.
func configJS(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	name := metav1.ObjectMeta{Namespace: c.Namespace, Name: "config-a"}
	for _, o := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: name, Data: map[string]string{"config.js": "module.exports = {api: {keySecret: process.env.KEY}}"}},
		testkit.SecretFor(v1alpha1.UsedByConferenceConfig, c.Namespace, name.Name, map[string]string{"KEY": "key-of-tenant-a-0123456789"}),
	} {
		if err := c.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// needsEverything makes tenants that name every kind of object.
func needsEverything(a, _ *v1alpha1.ConferenceConfig) {
	a.Spec.API = nil
	a.Spec.Source = &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{
		ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "config-a", Key: "config.js"},
		EnvSecretRef:    &v1alpha1.SecretReference{Name: "config-a"},
	}}
	a.Spec.Meetings = &v1alpha1.MeetingsSpec{TTLSecondsAfterEnded: ptr.To(int32(1))}
}

// liveFully does all that the manager is there for: every endpoint, links, passwords, peers, ends of all kinds.
func liveFully(t *testing.T, w *world) {
	t.Helper()
	for _, account := range []account{w.a, w.b} {
		account.want(http.StatusOK, "GET", "/api/v1/stats", nil)
		account.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
		account.want(http.StatusOK, "POST", "/api/v1/meeting", nil)
		account.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{"username": "ada", "password": "secret", "expire": "1h"})
	}
	w.a.enter(map[string]any{"room": "board", "name": "Ada", "roomPassword": "sesame", "duration": "01:00:00"})
	w.eventually(t, func() error {
		if m := w.meetingsOf(t, "board")[0]; m.Status.ParticipantCount != 1 {
			return fmt.Errorf("status is %+v", m.Status)
		}
		return nil
	})
	// The same again: is it still there, and is that its password?
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "board", "duration": "01:00:00", "roomPassword": "sesame"})
	w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "board", "name": "Grace", "roomPassword": "sesame"})
	w.a.want(http.StatusNotFound, "DELETE", "/api/v1/meeting/nobody", nil)
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/board", nil)
	// The name is taken by an ended one, which the API deletes.
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "board"})
	w.Create(t, w.meeting("standing"))
	w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingActive))
	w.Kubectl(t, "patch", "meeting", "standing", "--type=merge", "-p", `{"spec":{"end":{}}}`)
	w.eventually(t, w.isGone("standing"))
	w.Create(t, w.meeting("deleted"))
	w.eventually(t, w.hasPhase("deleted", v1alpha1.MeetingActive))
	w.Kubectl(t, "delete", "meeting", "deleted", "--wait", "--timeout=30s")
	w.Kubectl(t, "delete", "conferenceconfig", "variant-b", "--wait", "--timeout=30s")
	w.eventually(t, func() error {
		if out := w.Kubectl(t, "get", "events"); !strings.Contains(out, "standing") {
			return fmt.Errorf("no Event tells of the Meeting:\n%s", out)
		}
		return nil
	})
}
