// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestStepsOfTheFleet: each Kustomization has a source, waits for what it needs, and a tenant's holds up no other.
func TestStepsOfTheFleet(t *testing.T) {
	f := gitOps(t)
	f.order(t)
	for name, s := range f.steps {
		if ref := s.Spec.SourceRef; ref.Kind != "GitRepository" || ref.Name != "flux-system" {
			t.Errorf("%s is of %s, which flux bootstrap does not make", name, ref.Name)
		}
		if !s.Spec.Wait || !s.Spec.Prune || s.Spec.Timeout == "" {
			t.Errorf("%s does not wait until all is ready, or keeps what has gone from Git", name)
		}
		there := f.before(t, name)
		for _, o := range s.objects {
			ns := o.GetNamespace()
			if ns != "" && !has(there, "Namespace", "", ns) {
				t.Errorf("%s: nothing before makes the namespace of %s", name, identity(o))
			}
			group := o.GroupVersionKind().Group
			if group == v1alpha1.GroupVersion.Group && !slices.ContainsFunc(manifests.OfKind(there, "CustomResourceDefinition"), func(d *unstructured.Unstructured) bool {
				kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
				return kind == o.GetKind()
			}) {
				t.Errorf("%s: nothing before defines the kind of %s", name, identity(o))
			}
		}
		if _, tenant := strings.CutPrefix(s.Spec.Path, "./tenants/"); !tenant {
			continue
		}
		for other, s := range f.steps {
			for _, on := range s.Spec.DependsOn {
				if on.Name == name {
					t.Errorf("%s waits for the tenant %s", other, name)
				}
			}
		}
		f.tenantIsConfined(t, s, there)
	}
}

// tenantIsConfined: a tenant's objects are applied with rights in its own namespace alone, which suffice.
func (f *fleet) tenantIsConfined(t *testing.T, s *step, there []*unstructured.Unstructured) {
	t.Helper()
	account := s.Spec.ServiceAccountName
	if account == "" || !has(f.read, "ServiceAccount", s.Namespace, account) {
		t.Errorf("%s runs as %q, which is no ServiceAccount in %s", s.Name, account, s.Namespace)
	}
	var may []rbacv1.PolicyRule
	for _, o := range append(slices.Clone(there), f.read...) {
		if o.GetKind() != "RoleBinding" && o.GetKind() != "ClusterRoleBinding" {
			continue
		}
		b := manifests.As[rbacv1.RoleBinding](t, o)
		if !slices.Contains(b.Subjects, rbacv1.Subject{Kind: "ServiceAccount", Namespace: s.Namespace, Name: account}) {
			continue
		}
		if b.Namespace != s.Spec.TargetNamespace {
			t.Errorf("%s may also write in the namespace %q", s.Name, b.Namespace)
		}
		for _, role := range manifests.OfKind(there, "ClusterRole") {
			if role.GetLabels()["rbac.authorization.k8s.io/aggregate-to-"+b.RoleRef.Name] == "true" {
				may = append(may, manifests.As[rbacv1.ClusterRole](t, role).Rules...)
			}
		}
	}
	for _, o := range s.objects {
		if o.GetNamespace() != s.Spec.TargetNamespace {
			t.Errorf("%s applies %s in another namespace", s.Name, identity(o))
		}
		resource := strings.ToLower(o.GetKind()) + "s"
		for _, verb := range []string{"get", "create", "patch", "delete"} {
			if !slices.ContainsFunc(may, func(r rbacv1.PolicyRule) bool {
				return slices.Contains(r.APIGroups, o.GroupVersionKind().Group) && slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, verb)
			}) {
				t.Errorf("%s may not %s %s", s.Name, verb, resource)
			}
		}
	}
}

// keysOf are the keys of a Secret that a step finds: that of an ExternalSecret.
func keysOf(t *testing.T, there []*unstructured.Unstructured, namespace, name string) (keys []string) {
	t.Helper()
	for _, o := range manifests.OfKind(there, "ExternalSecret") {
		target, _, _ := unstructured.NestedString(o.Object, "spec", "target", "name")
		if o.GetNamespace() != namespace || target != name {
			continue
		}
		data, _, err := unstructured.NestedSlice(o.Object, "spec", "data")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range data {
			keys = append(keys, d.(map[string]any)["secretKey"].(string))
		}
	}
	return keys
}

// TestSecretsOfTheFleet: each Secret that a pod, a MediaServer or a tenant needs is made before, with the keys that are asked for,
// and the managers may read theirs.
func TestSecretsOfTheFleet(t *testing.T) {
	f := gitOps(t)
	needed := 0
	for name, s := range f.steps {
		there := f.before(t, name)
		need := func(of *unstructured.Unstructured, secret, key string, byManagers bool) {
			needed++
			if !slices.Contains(keysOf(t, there, of.GetNamespace(), secret), key) {
				t.Errorf("%s: %s needs the key %s of the Secret %s, which nothing makes", name, identity(of), key, secret)
			}
			if byManagers && !slices.ContainsFunc(manifests.OfKind(there, "RoleBinding"), func(o *unstructured.Unstructured) bool {
				b := manifests.As[rbacv1.RoleBinding](t, o)
				return b.Namespace == of.GetNamespace() && b.RoleRef.Name == "convene-system.convene-secrets" && has(there, "ClusterRole", "", b.RoleRef.Name) &&
					has(there, "ServiceAccount", b.Subjects[0].Namespace, b.Subjects[0].Name)
			}) {
				t.Errorf("%s: the managers may not read the Secret %s", identity(of), secret)
			}
		}
		for _, o := range s.objects {
			switch o.GetKind() {
			case "Deployment":
				pod := manifests.As[appsv1.Deployment](t, o).Spec.Template.Spec
				for _, e := range pod.Containers[0].Env {
					if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
						need(o, e.ValueFrom.SecretKeyRef.Name, e.ValueFrom.SecretKeyRef.Key, false)
					}
				}
				for _, v := range pod.Volumes {
					if v.ConfigMap == nil || !has(there, "ConfigMap", o.GetNamespace(), v.ConfigMap.Name) {
						t.Errorf("%s needs the volume %s, which nothing makes", identity(o), v.Name)
					}
				}
			case "MediaServer":
				server := manifests.As[v1alpha1.MediaServer](t, o)
				need(o, server.Spec.SecretRef.Name, "apiKey", true)
				need(o, server.Spec.SecretRef.Name, "apiSecret", true)
			case "ConferenceConfig":
				for _, ref := range manifests.As[v1alpha1.ConferenceConfig](t, o).Spec.API.KeySecretRefs {
					need(o, ref.Name, ref.Key, true)
				}
			}
		}
	}
	if needed < 5 {
		t.Errorf("only %d keys are needed", needed)
	}
}

// TestAddressesOfTheFleet: MediaServers name a Service that has pods, tenants name MediaServers that take them, and hosts that they
// may claim and that are routed.
func TestAddressesOfTheFleet(t *testing.T) {
	f := gitOps(t)
	tenants := 0
	for name, s := range f.steps {
		there := f.before(t, name)
		for _, o := range s.objects {
			switch o.GetKind() {
			case "MediaServer":
				reaches(t, there, manifests.As[v1alpha1.MediaServer](t, o).Spec.APIURL)
			case "Meeting":
				if of := manifests.As[v1alpha1.Meeting](t, o).Spec.ConfigRef.Name; !has(there, "ConferenceConfig", o.GetNamespace(), of) {
					t.Errorf("%s is of the tenant %s, which is not there", identity(o), of)
				}
			case "ConferenceConfig":
				tenants++
				config := manifests.As[v1alpha1.ConferenceConfig](t, o)
				for _, ref := range config.Spec.MediaRefs {
					if !has(there, "MediaServer", ref.Namespace, ref.Name) {
						t.Errorf("%s names the MediaServer %s/%s, which is not there", identity(o), ref.Namespace, ref.Name)
						continue
					}
					server := manifests.As[v1alpha1.MediaServer](t, manifests.Find(t, there, "MediaServer", ref.Name))
					if server.Spec.AllowedNamespaces.From != v1alpha1.FromAll {
						t.Errorf("%s may not use %s", identity(o), ref.Name)
					}
				}
				host, err := url.Parse(config.Spec.BaseURL)
				if err != nil {
					t.Fatal(err)
				}
				if allowed := manifests.Find(t, there, "Namespace", o.GetNamespace()).GetAnnotations()["convene.dev/allowed-hosts"]; allowed != host.Host {
					t.Errorf("%s may claim %s, not %s", o.GetNamespace(), allowed, host.Host)
				}
				names, _, err := unstructured.NestedStringSlice(manifests.Find(t, there, "HTTPRoute", "convene").Object, "spec", "hostnames")
				if err != nil || !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(host.Host, strings.TrimPrefix(n, "*")) }) {
					t.Errorf("nothing routes %s: %q", host.Host, names)
				}
			}
		}
	}
	if tenants == 0 {
		t.Error("there are no tenants")
	}
}

// reaches fails unless a URL names a port of a Service that has pods.
func reaches(t *testing.T, there []*unstructured.Unstructured, address string) {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name, rest, _ := strings.Cut(to.Hostname(), ".")
	namespace := strings.TrimSuffix(rest, ".svc")
	if !has(there, "Service", namespace, name) {
		t.Errorf("%s leads to no Service", address)
		return
	}
	service := manifests.As[corev1.Service](t, manifests.Find(t, there, "Service", name))
	if !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return to.Port() == strconv.Itoa(int(p.Port)) }) {
		t.Errorf("%s is no port of the Service", address)
	}
	if !slices.ContainsFunc(manifests.OfKind(there, "Deployment"), func(o *unstructured.Unstructured) bool {
		pod := manifests.As[appsv1.Deployment](t, o).Spec.Template
		return o.GetNamespace() == namespace && labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(pod.Labels))
	}) {
		t.Errorf("the Service of %s has no pods", address)
	}
}

var pushed = regexp.MustCompile(`docker push (\S+)`)

// TestVersionsOfTheFleet: the image is the one that docs/install.md pushes, and the chart is of the same version, for Flux and for
// Argo CD.
func TestVersionsOfTheFleet(t *testing.T) {
	f := gitOps(t)
	image := manifests.As[appsv1.Deployment](t, manifests.Find(t, f.steps["convene"].objects, "Deployment", "convene")).Spec.Template.Spec.Containers[0].Image
	found := pushed.FindStringSubmatch(testkit.Documents(t)["docs/install.md"])
	if len(found) == 0 || found[1] != image {
		t.Errorf("the managers are of %s, and docs/install.md pushes %q", image, found)
	}
	_, tag, _ := strings.Cut(image, ":")
	of, _, _ := unstructured.NestedString(manifests.Find(t, f.read, "GitRepository", "convene").Object, "spec", "ref", "tag")
	if of != tag {
		t.Errorf("Flux takes the chart of %s, and the image of %s", of, tag)
	}
}
