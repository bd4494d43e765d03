// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

func TestSecretsTakeEffect(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	r.create(t, r.config(r.Namespace, "a"))
	r.eventually(t, r.accepts(r.Namespace, "a", ""))
	tenant, _ := r.registry.Get(types.NamespacedName{Namespace: r.Namespace, Name: "a"})
	if p := tenant.Problems[0]; p.Reason != v1alpha1.ReasonSecretNotFound {
		t.Errorf("before there is a Secret: %+v", p)
	}

	keys := secret(r.Namespace, "keys", map[string]string{"current": strong})
	r.create(t, keys)
	r.eventually(t, r.accepts(r.Namespace, "a", strong))

	keys.StringData = map[string]string{"current": strong2}
	if err := r.Client.Update(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, r.accepts(r.Namespace, "a", strong2))

	if err := r.Client.Delete(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, r.accepts(r.Namespace, "a", ""))

	r.create(t, secret(r.Namespace, "keys", map[string]string{"current": strong}))
	r.eventually(t, r.accepts(r.Namespace, "a", strong))
}

func TestSpecTakesEffect(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	r.create(t, secret(r.Namespace, "keys", map[string]string{"current": strong}), secret(r.Namespace, "other", map[string]string{"current": strong2}))
	config := r.config(r.Namespace, "a")
	r.create(t, config)
	r.eventually(t, r.accepts(r.Namespace, "a", strong))
	config.Spec.API.KeySecretRefs[0].Name = "other"
	config.Spec.Hostnames = []string{"new.example"}
	if err := r.Client.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, r.accepts(r.Namespace, "a", strong2))
	if got, _ := r.registry.ForHost("new.example"); got == nil || got.Generation != config.Generation {
		t.Errorf("the new host is answered by %v", got)
	}
}

// An operator's own file in a ConfigMap, evaluated for real.
func TestConfigJSTakesEffect(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	file := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: "file"}, Data: map[string]string{"config.js": "module.exports = {"}}
	config := fromConfigJS("cm/file")
	config.ObjectMeta = metav1.ObjectMeta{Namespace: r.Namespace, Name: "a"}
	r.create(t, file, config)
	r.eventually(t, r.accepts(r.Namespace, "a", ""))
	file.Data["config.js"] = plainJS
	if err := r.Client.Update(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, r.accepts(r.Namespace, "a", strong))
	tenant, _ := r.registry.Get(client.ObjectKeyFromObject(config))
	if tenant.Enabled(Stats) || !tenant.Enabled(Join) {
		t.Errorf("%v are on", tenant.EnabledEndpoints())
	}
}

var oneByName = regexp.MustCompile(`^GET /api/v1/namespaces/[^/]+/(secrets|configmaps)\?fieldSelector=metadata\.name=[^,]+$`)

// What is not named is never read: no list of a namespace's Secrets, let alone of all.
func TestOnlyNamedObjectsAreRead(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	r.create(t, secret(r.Namespace, "unrelated", map[string]string{"x": "y"}))
	a, b := r.config(r.Namespace, "a"), r.config(r.Namespace, "b")
	r.create(t, secret(r.Namespace, "keys", map[string]string{"current": strong}), a, b)
	r.eventually(t, r.accepts(r.Namespace, "a", strong))
	r.eventually(t, r.accepts(r.Namespace, "b", strong))
	watching := func(want ...string) func() error {
		all := map[string]int{}
		for _, name := range want {
			all[name] = 1
		}
		return func() error {
			if diff := cmp.Diff(all, r.record.watches()); diff != "" {
				return fmt.Errorf("the open watches (-want +got):\n%s", diff)
			}
			return nil
		}
	}
	r.eventually(t, watching("secrets/keys", "secrets/a-signing-keys", "secrets/b-signing-keys"))

	// A Secret that two name is watched until neither does.
	if err := r.Client.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, watching("secrets/keys", "secrets/b-signing-keys"))
	if err := r.accepts(r.Namespace, "b", strong)(); err != nil {
		t.Error(err)
	}
	b.Spec.Tokens = &v1alpha1.TokensSpec{SigningKeysSecretRef: &v1alpha1.SecretReference{Name: "own"}}
	if err := r.Client.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, watching("secrets/keys", "secrets/own"))
	if err := r.Client.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, watching())
	r.eventually(t, func() error {
		if all := r.registry.All(); len(all) != 0 {
			return fmt.Errorf("%d tenants are left", len(all))
		}
		return nil
	})
	r.record.mu.Lock()
	defer r.record.mu.Unlock()
	for _, request := range r.record.requests {
		if !oneByName.MatchString(request) || strings.HasSuffix(request, "=unrelated") {
			t.Errorf("asked: %s", request)
		}
	}
	if len(r.record.requests) == 0 {
		t.Error("nothing was asked")
	}
}

// A Secret that may not be read is a missing one, for the tenant that names it, and holds up nobody.
func TestUnreadableSecretsHoldNobodyUp(t *testing.T) {
	c := testkit.ControlPlane(t)
	other := c.NewNamespace(t)
	const user = "limited"
	grant := func(namespace string) {
		t.Helper()
		role := &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch"}}},
		}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
		}
		for _, o := range []client.Object{role, binding} {
			if err := c.Client.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	grant(c.Namespace)
	limited := func(config *rest.Config) { config.Impersonate.UserName = user }
	r := newRig(t, c, limited, "", other)
	for _, ns := range []string{other, c.Namespace} {
		r.create(t, secret(ns, "keys", map[string]string{"current": strong}))
	}
	r.create(t, r.config(other, "closed"), r.config(c.Namespace, "open"))
	r.eventually(t, r.accepts(c.Namespace, "open", strong))
	r.eventually(t, r.accepts(other, "closed", ""))
	closed, _ := r.registry.Get(types.NamespacedName{Namespace: other, Name: "closed"})
	if p := closed.Problems[0]; p.Reason != v1alpha1.ReasonSecretNotFound || !strings.Contains(p.Message, "may not read it") {
		t.Errorf("the problem is %+v", p)
	}
	grant(other)
	testkit.Eventually(t, 2*patience, r.accepts(other, "closed", strong)) // client-go waits up to 30 s between tries
}

// What is known to be unreadable is not waited for; what is only slow is, for a while.
func TestSettled(t *testing.T) {
	key := object{"secrets", "ns", "x"}
	for reason, tc := range map[string]struct {
		synced, refused bool
		since           time.Time
		want            bool
	}{
		"just asked for": {false, false, time.Now(), false}, "looked at": {true, false, time.Now(), true},
		"forbidden": {false, true, time.Now(), true}, "slow for too long": {false, false, time.Now().Add(-syncLimit), true},
		"others are read before": {false, false, time.Time{}, false},
	} {
		w := &watch{synced: tc.synced, since: tc.since, stop: func() {}}
		w.refused.Store(tc.refused)
		o := &objects{watches: map[object]*watch{key: w}}
		if got := o.settled(map[object]bool{key: true}); got != tc.want {
			t.Errorf("%s: settled is %t", reason, got)
		}
	}
}

func TestReadyWithoutConfigs(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	<-r.registry.Ready()
	if got, _ := r.registry.ForHost("x.example"); got != nil {
		t.Error("a host is answered")
	}
}

func TestReadyOnceEveryConfigIsThere(t *testing.T) {
	c := testkit.ControlPlane(t)
	made := &rig{Cluster: c}
	made.create(t, secret(c.Namespace, "keys", map[string]string{"current": strong}))
	for i := range 5 {
		made.create(t, made.config(c.Namespace, fmt.Sprint("c", i)))
	}
	r := newRig(t, c, nil, "")
	<-r.registry.Ready()
	for i := range 5 {
		if err := r.accepts(c.Namespace, fmt.Sprint("c", i), strong)(); err != nil {
			t.Error(err)
		}
	}
}

func TestHostsGoFromOneTenantToAnother(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "fallback")
	old := r.config(r.Namespace, "old", "shared.example", "old.example")
	r.create(t, secret(r.Namespace, "keys", map[string]string{"current": strong}), old)
	r.eventually(t, r.accepts(r.Namespace, "old", strong))
	// Of two made in one second the UID decides: make another until it is the younger.
	young := r.config(r.Namespace, "young", "shared.example", "young.example")
	r.eventually(t, func() error {
		young.ResourceVersion, young.UID = "", ""
		r.create(t, young)
		if young.CreationTimestamp.After(old.CreationTimestamp.Time) || young.UID > old.UID {
			return nil
		}
		if err := r.Client.Delete(t.Context(), young); err != nil {
			t.Fatal(err)
		}
		return fmt.Errorf("as old as the other")
	})
	r.create(t, r.config(r.Namespace, "fallback", "fallback.example"))
	answers := func(host, want string) func() error {
		return func() error {
			got, _ := r.registry.ForHost(host)
			if nameOf(got) != want {
				return fmt.Errorf("%s is answered by %q, want %q", host, nameOf(got), want)
			}
			return nil
		}
	}
	for host, want := range map[string]string{"shared.example": "old", "young.example": "young", "SHARED.example:8443": "old", "10.1.2.3": "fallback"} {
		r.eventually(t, answers(host, want))
	}
	name := client.ObjectKeyFromObject(young)
	if got := r.registry.HostProblems(name); len(got) != 1 || !strings.Contains(got[0].Message, ": shared.example with ConferenceConfig "+old.Namespace+"/old; ") {
		t.Errorf("problems are %+v", got)
	}
	r.mu.Lock()
	before := r.told["young"]
	r.mu.Unlock()
	if err := r.Client.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, answers("shared.example", "young"))
	r.eventually(t, answers("old.example", "fallback"))
	if left := r.registry.HostProblems(name); len(left) > 0 {
		t.Errorf("problems are left: %+v", left)
	}
	// The reconciler that writes its conditions has to hear of it.
	r.eventually(t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.told["young"] == before {
			return fmt.Errorf("nobody was told that young has the host")
		}
		return nil
	})
}

// TestAnAnnotationOfTheNamespaceCountsAtOnce: an administrator lets a tenant have a host that nobody owns, and takes it back.
func TestAnAnnotationOfTheNamespaceCountsAtOnce(t *testing.T) {
	c := testkit.ControlPlane(t)
	elsewhere := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "elsewhere-"}}
	c.Create(t, elsewhere)
	r := newRig(t, c, nil, "default", elsewhere.Name)
	r.create(t, r.config(r.Namespace, "default", "default.example"))
	r.create(t, r.config(elsewhere.Name, "team", "localhost"))
	answers := func(want string) func() error {
		return func() error {
			if got, _ := r.registry.ForHost("localhost:8080"); nameOf(got) != want {
				return fmt.Errorf("localhost is answered by %q, want %q", nameOf(got), want)
			}
			return nil
		}
	}
	team := types.NamespacedName{Namespace: elsewhere.Name, Name: "team"}
	r.eventually(t, func() error {
		if got := r.registry.HostProblems(team); len(got) != 1 || got[0].Reason != v1alpha1.ReasonNotAllowed {
			return fmt.Errorf("problems are %+v", got)
		}
		return answers("default")()
	})
	for _, annotation := range []struct{ value, want string }{{`"localhost"`, "team"}, {`null`, "default"}} {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"convene.dev/allowed-hosts":%s}}}`, annotation.value)
		if err := r.Client.Patch(t.Context(), elsewhere, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
		r.eventually(t, answers(annotation.want))
	}
}

func TestNotifyCanBeStopped(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	heard := make(chan types.NamespacedName, 16)
	stop := r.registry.Notify(func(name types.NamespacedName) { heard <- name })
	r.create(t, r.config(r.Namespace, "a"))
	if got := <-heard; got.Name != "a" {
		t.Errorf("heard of %s", got)
	}
	stop()
	r.create(t, r.config(r.Namespace, "b"))
	r.eventually(t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.told["b"] == 0 {
			return fmt.Errorf("nobody heard of b")
		}
		return nil
	})
	for len(heard) > 0 {
		if got := <-heard; got.Name == "b" {
			t.Error("heard of b after the stop")
		}
	}
}
