// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// health is what Argo CD would show for an object: it runs the script that its settings have for the object's kind.
func health(t *testing.T, o *unstructured.Unstructured) (state, message string) {
	t.Helper()
	settings := manifests.Parse(t, manifests.Build(t, filepath.Join(testkit.Root(t), "config", "gitops", "argocd")))
	key := "resource.customizations.health." + o.GroupVersionKind().Group + "_" + o.GetKind()
	script, found, err := unstructured.NestedString(manifests.Find(t, settings, "ConfigMap", "argocd-cm").Object, "data", key)
	if err != nil || !found {
		t.Fatalf("Argo CD is not taught %s: %v", key, err)
	}
	// Argo CD opens no more than these two.
	machine := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer machine.Close()
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable} {
		machine.Push(machine.NewFunction(open))
		machine.Call(0, 0)
	}
	machine.SetGlobal("obj", luaValue(o.Object))
	if err := machine.DoString(script); err != nil {
		t.Fatal(err)
	}
	result, ok := machine.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("%s returns %s", key, machine.Get(-1))
	}
	return result.RawGetString("status").String(), result.RawGetString("message").String()
}

func luaValue(v any) lua.LValue {
	switch x := v.(type) {
	case map[string]any:
		table := &lua.LTable{}
		for k, inner := range x {
			table.RawSetString(k, luaValue(inner))
		}
		return table
	case []any:
		table := &lua.LTable{}
		for _, inner := range x {
			table.Append(luaValue(inner))
		}
		return table
	case string:
		return lua.LString(x)
	case bool:
		return lua.LBool(x)
	case int64:
		return lua.LNumber(x)
	case float64:
		return lua.LNumber(x)
	}
	return lua.LNil
}

// shows is nil once both tools show an object as expected. Argo CD's message has to contain says.
func (w *world) shows(t *testing.T, kind, namespace, name, argo string, flux status.Status, says string) error {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	if err := w.Client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		return err
	}
	state, message := health(t, o)
	if state != argo || !strings.Contains(message, says) {
		return fmt.Errorf("Argo CD shows %s %s as %s %q, want %s %q: %v", kind, name, state, message, argo, says, o.Object["status"])
	}
	if got := fluxStatus(t, o); got != flux {
		return fmt.Errorf("Flux shows %s %s as %s, want %s: %v", kind, name, got, flux, o.Object["status"])
	}
	return nil
}

// fluxStatus is what Flux shows for an object: by the health check of the example repository where there is one for its
// kind, evaluated as Flux does, and else by kstatus.
func fluxStatus(t *testing.T, o *unstructured.Unstructured) status.Status {
	t.Helper()
	expression := healthCheck(t, o.GroupVersionKind())
	if expression == "" {
		result, err := status.Compute(o)
		if err != nil {
			t.Fatal(err)
		}
		return result.Status
	}
	observed, found, err := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if err != nil || found && observed != o.GetGeneration() {
		return status.InProgressStatus
	}
	env, err := cel.NewEnv(cel.OptionalTypes(), cel.CrossTypeNumericComparisons(true), ext.Strings(), ext.Sets())
	if err != nil {
		t.Fatal(err)
	}
	parsed, issues := env.Parse(expression)
	if issues != nil {
		t.Fatal(issues)
	}
	program, err := env.Program(parsed)
	if err != nil {
		t.Fatal(err)
	}
	current, _, err := program.Eval(o.Object)
	if err != nil {
		t.Fatalf("Flux would wait in vain: %v", err)
	}
	if current.Value() == true {
		return status.CurrentStatus
	}
	return status.InProgressStatus
}

// healthCheck is the expression that the example repository has Flux use for a kind; empty when it has none.
func healthCheck(t *testing.T, kind schema.GroupVersionKind) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testkit.Root(t), "config", "gitops", "example", "clusters", "flux", "team-a.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range manifests.Parse(t, string(raw)) {
		checks, _, err := unstructured.NestedSlice(o.Object, "spec", "healthCheckExprs")
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range checks {
			c := check.(map[string]any)
			if c["apiVersion"] == kind.GroupVersion().String() && c["kind"] == kind.Kind {
				return c["current"].(string)
			}
		}
	}
	return ""
}

// TestGitOpsToolsSeeEveryPhase takes Meetings and ConferenceConfigs of a running manager through all that can become of
// them and asks Argo CD's script and Flux's kstatus about each.
func TestGitOpsToolsSeeEveryPhase(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(_, b *v1alpha1.ConferenceConfig) { b.Spec.MediaRefs = nil })
	wrong := w.config("wrong-key")
	wrong.Spec.API.KeySecretRefs[0].Name = "published"
	w.Secret(t, v1alpha1.UsedByConferenceConfig, "published", map[string]string{"key": ""})
	waiting := w.config("waiting")
	waiting.Spec.API.KeySecretRefs[0].Name = "not-yet"
	w.Create(t, wrong, waiting)
	elsewhere := w.NewNamespace(t)
	unseen := w.meeting("unseen")
	unseen.Namespace = elsewhere
	w.Create(t, unseen, w.meeting("standing"), w.meeting("over"),
		w.meeting("orphan", func(s *v1alpha1.MeetingSpec) { s.ConfigRef.Name = "nobody" }),
		w.meeting("silent", func(s *v1alpha1.MeetingSpec) { s.ConfigRef.Name = "variant-b" }))
	w.Kubectl(t, "patch", "meeting", "over", "--type=merge", "-p", `{"spec":{"end":{}}}`)
	w.a.enter(map[string]any{"room": "busy", "name": "Ada"})
	busy := w.meetingsOf(t, "busy")[0].Name

	see := func(kind, namespace, name, argo string, flux status.Status, says string) {
		t.Helper()
		w.eventually(t, func() error { return w.shows(t, kind, namespace, name, argo, flux, says) })
	}
	const meeting, config = "Meeting", "ConferenceConfig"
	ns := w.Namespace
	see(meeting, elsewhere, "unseen", "Progressing", status.InProgressStatus, "Not looked at yet")
	see(meeting, ns, "standing", "Healthy", status.CurrentStatus, "0 in; People can enter at")
	see(meeting, ns, busy, "Healthy", status.CurrentStatus, "1 in")
	see(meeting, ns, "over", "Healthy", status.CurrentStatus, "Ended: Requested")
	see(meeting, ns, "orphan", "Progressing", status.InProgressStatus, v1alpha1.ReasonConfigNotFound)
	see(meeting, ns, "silent", "Progressing", status.InProgressStatus, v1alpha1.ReasonNoMedia)
	see(config, ns, "default", "Healthy", status.CurrentStatus, "Serving")
	see(config, ns, "waiting", "Progressing", status.InProgressStatus, v1alpha1.ReasonSecretNotFound)
	see(config, ns, "wrong-key", "Degraded", status.FailedStatus, v1alpha1.ReasonKeyEmpty)

	// What is being ended while LiveKit is away stays as it is for minutes.
	w.livekit.Kill()
	w.Kubectl(t, "patch", "meeting", busy, "--type=merge", "-p", `{"spec":{"end":{}}}`)
	see(config, ns, "default", "Progressing", status.InProgressStatus, v1alpha1.ReasonUnreachable)
	see(meeting, ns, busy, "Progressing", status.InProgressStatus, v1alpha1.ReasonEnding)
	// What is deleted goes at once, unless somebody's finalizer keeps it.
	for _, kept := range []string{"conferenceconfig/default", "meeting/" + busy} {
		w.Kubectl(t, "patch", kept, "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/kept"]}}`)
	}
	w.Kubectl(t, "delete", "conferenceconfig", "default", "--wait=false")
	see(config, ns, "default", "Progressing", status.TerminatingStatus, "Being deleted")
	w.Kubectl(t, "delete", "meeting", busy, "--wait=false")
	see(meeting, ns, busy, "Progressing", status.InProgressStatus, "Being deleted")
}

// config is one more tenant of variant A, with a host of its own.
func (w *world) config(name string) *v1alpha1.ConferenceConfig {
	return &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: "http://" + name + ".example.com",
			API: &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api-a", Key: "key"}}},
		},
	}
}

// tenant is the example repository's tenant as it is in Git, but for the addresses of this test.
func (w *world) tenant(t *testing.T, baseURL, patches string) string {
	t.Helper()
	overlay := fmt.Sprintf(`namespace: %s
resources: [../example/tenants/team-a]
patches:
- target: {kind: ConferenceConfig}
  patch: |-
    - {op: replace, path: /spec/baseURL, value: %q}
    - {op: replace, path: /spec/mediaRefs/0/namespace, value: %q}
%s`, w.Namespace, baseURL, w.Namespace, patches)
	out := manifests.Overlay(t, filepath.Join("config", "gitops"), overlay)
	file := filepath.Join(t.TempDir(), "tenant.yaml")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// externalSecret makes the Secret that an ExternalSecret of the cluster's namespace asks for. As External Secrets does where there is no
// template, it copies the labels of the ExternalSecret.
func externalSecret(t *testing.T, c *testkit.Cluster, name string, data map[string]string) {
	t.Helper()
	asked := &unstructured.Unstructured{}
	asked.SetAPIVersion("external-secrets.io/v1")
	asked.SetKind("ExternalSecret")
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: name}, asked); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := unstructured.NestedMap(asked.Object, "spec", "target", "template"); found {
		t.Fatal("this double knows no templates")
	}
	c.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name, Labels: asked.GetLabels()}, StringData: data})
}

// TestNothingInGitDrifts applies the example tenant, lives with it, and asks what would be applied again: nothing,
// because the operator writes no spec. Then it switches an endpoint as a commit does.
func TestNothingInGitDrifts(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	team := w.a
	// Another name for this machine, so that no other tenant has the host.
	team.baseURL = strings.Replace(w.a.baseURL, "127.0.0.1", "localhost", 1)
	w.Secret(t, v1alpha1.UsedByConferenceConfig, "api-key", map[string]string{"key": team.key})
	file := w.tenant(t, team.baseURL, "")
	apply := []string{"apply", "--server-side", "--field-manager=gitops", "--filename"}
	w.Kubectl(t, append(apply, file)...)
	w.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=30s", "conferenceconfig/team-a", "meeting/stand-up", "meeting/all-hands")

	p, _ := team.enter(map[string]any{"room": "stand-up", "name": "Ada", "duration": "01:00:00", "roomPassword": false})
	occupied := func(count int32) func() error {
		return func() error {
			m, err := w.get("stand-up")
			if err == nil && m.Status.ParticipantCount != count {
				err = fmt.Errorf("status is %+v", m.Status)
			}
			return err
		}
	}
	w.eventually(t, occupied(1))
	p.Close()
	w.eventually(t, occupied(0))

	if out, err := w.TryKubectl(t, "diff", "--server-side", "--field-manager=gitops", "--filename", file); err != nil {
		t.Errorf("it would be applied again: %v\n%s", err, out)
	}
	for kind, names := range map[string][]string{"Meeting": {"stand-up", "all-hands"}, "ConferenceConfig": {"team-a"}} {
		for _, name := range names {
			w.specIsOf(t, kind, name, "gitops")
		}
	}

	off := w.tenant(t, team.baseURL, "    - {op: replace, path: /spec/api/allowed/token, value: false}\n")
	token := map[string]any{"username": "ada", "password": "secret"}
	team.want(http.StatusOK, "POST", "/api/v1/token", token)
	began := time.Now()
	w.Kubectl(t, append(apply, off)...)
	applied := time.Now()
	w.eventually(t, func() error {
		if r := team.call("POST", "/api/v1/token", token); r.status != http.StatusForbidden {
			return errors.New(r.raw)
		}
		return nil
	})
	t.Logf("apply took %s, and %s later the endpoint was off", applied.Sub(began).Round(time.Millisecond), time.Since(applied).Round(time.Millisecond))
}

// specIsOf fails unless every field of the spec belongs to one manager.
func (w *world) specIsOf(t *testing.T, kind, name, manager string) {
	t.Helper()
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	if err := w.Client.Get(t.Context(), w.key(name), o); err != nil {
		t.Fatal(err)
	}
	for _, of := range o.ManagedFields {
		if of.Manager != manager && strings.Contains(of.FieldsV1.GetRawString(), `"f:spec"`) {
			t.Errorf("%s %s: %s owns a part of the spec: %s", kind, name, of.Manager, of.FieldsV1.GetRawString())
		}
	}
}
