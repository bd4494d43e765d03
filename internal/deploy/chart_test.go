// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

func TestChartRefusesWrongValues(t *testing.T) {
	for _, c := range []struct {
		reason, set, says string
	}{
		{"a typing error in a name", "replicaCont=3", "replicaCont"},
		{"to be switched off by itself", "enabled=false", "enabled"},
		{"some number of managers", "replicaCount=some", "replicaCount"},
		{"less than no managers", "replicaCount=-1", "replicaCount"},
		{"a number as text", "service.port=http", "port"},
		{"a digest without its algorithm", "image.digest=0123", "digest"},
		{"a duration without unit", "drainDelay=10", "drainDelay"},
		{"an Ingress for no host", "ingress.enabled=true", "hosts"},
		{"a route to no gateway", "httpRoute.enabled=true", "parentRefs"},
		{"proxies that are no ranges", "trustedProxies={10.0.0.1}", "trustedProxies"},
		{"a default config without namespace", "defaultConfig=default", "defaultConfig"},
		{"one namespace, and several", "watchNamespace=a,rbac.secretNamespaces={b}", "exclude each other"},
		{"an account that nobody makes", "serviceAccount.create=false", "serviceAccount.name"},
		{"an unknown network", "livekit.network=nodePort", "network"},
		{"two LiveKit nodes that cannot find each other", "livekit.enabled=true,livekit.nodes=2", "livekit.redis"},
		{"two Redis", "livekit.enabled=true,livekit.redis.create=true,livekit.redis.address=r:6379", "excludes"},
		{"a Redis that everybody can reach", "livekit.enabled=true,livekit.redis.create=true", "passwordSecretName"},
		{"a Redis that no policy protects", "livekit.enabled=true,livekit.network=loadBalancer,livekit.loadBalancer.ips={192.0.2.1},livekit.redis.create=true,networkPolicy.enabled=false", "passwordSecretName"},
		{"a Redis and a cluster of Redis", "livekit.enabled=true,livekit.redis.create=true,livekit.redis.passwordSecretName=r,livekit.config.redis.cluster_addresses={r:6379}", "excludes"},
		{"two LiveKit nodes and a Redis without an address", "livekit.enabled=true,livekit.nodes=2,livekit.config.redis.tls.enabled=true", "livekit.redis"},
		{"autoscaling by nothing", "autoscaling.enabled=true,autoscaling.targetCPUUtilizationPercentage=null", "metrics"},
		{"nodes that scale by nothing", "livekit.enabled=true,livekit.redis.address=r:6379,livekit.autoscaling.enabled=true,livekit.autoscaling.targetCPUUtilizationPercentage=null", "metrics"},
		{"a budget of nothing", "podDisruptionBudget.minAvailable=null", "maxUnavailable"},
		{"the gateway on the port of webhooks", "gatewayTLS.secretName=t,service.port=8082", "8082"},
		{"names that Services cannot have", "fullnameOverride=1e3x", "fullnameOverride"},
		{"two addresses of a Redis", "livekit.enabled=true,livekit.redis.address=r:6379\\,s:6379", "address"},
		{"load balancers without addresses", "livekit.enabled=true,livekit.network=loadBalancer", "loadBalancer.ips"},
		{"stopped nodes without their addresses", "livekit.enabled=true,livekit.network=loadBalancer,livekit.nodes=0", "loadBalancer.ips"},
		{"an address to be asked of nobody", "livekit.enabled=true,livekit.useExternalIP=true", "stunServers"},
		{"nodes behind load balancers that scale", "livekit.enabled=true,livekit.autoscaling.enabled=true,livekit.redis.address=r:6379,livekit.network=loadBalancer,livekit.loadBalancer.ips={192.0.2.1}", "livekit.network=hostNetwork"},
		{"nodes behind load balancers that others scale", "livekit.enabled=true,livekit.nodes=,livekit.redis.address=r:6379,livekit.network=loadBalancer,livekit.loadBalancer.ips={192.0.2.1}", "livekit.network=hostNetwork"},
		{"nodes that others scale and that cannot find each other", "livekit.enabled=true,livekit.nodes=", "livekit.redis"},
		{"nodes that scale and cannot find each other", "livekit.enabled=true,livekit.autoscaling.enabled=true", "livekit.redis"},
		{"annotations of a load balancer that is not there", "livekit.enabled=true,livekit.loadBalancer.nodeAnnotations[1].a=b", "nodeAnnotations"},
		{"certificates in two notations", "ingress.enabled=true,ingress.hosts={a.example.com},ingress.tlsSecretName=a,ingress.tls[0].secretName=b", "exclude each other"},
		{"a path that is compared in an unknown way", "ingress.enabled=true,ingress.hosts[0].host=a.example.com,ingress.hosts[0].paths[0].path=/,ingress.hosts[0].paths[0].pathType=Regex", "pathType"},
		{"a pull secret with a typing error", "imagePullSecrets[0].nam=registry", "imagePullSecrets"},
		{"an alert that is not there", "monitoring.prometheusRule.enabled=true,monitoring.prometheusRule.alerts.ConveneUp.for=1m", "ConveneDown"},
		{"a threshold of an alert that has none", "monitoring.prometheusRule.enabled=true,monitoring.prometheusRule.alerts.ConveneDown.threshold=1", "no threshold"},
		{"TCP and UDP on one number", "livekit.enabled=true,livekit.udpPort=7881", "a number each"},
		{"media on the port of TURN", "livekit.enabled=true,livekit.udpPort=5349,livekit.turn.enabled=true,livekit.turn.domain=turn.example.com", "a number each"},
		{"media on the port of LiveKit's API", "livekit.enabled=true,livekit.udpPort=7880", "a number each"},
		{"metrics on the port of media", "livekit.enabled=true,livekit.serviceMonitor.enabled=true,livekit.serviceMonitor.port=7882", "a number each"},
		{"a Redis by an IPv6 address without brackets", "livekit.enabled=true,livekit.redis.address=fd00::1:6379", "address"},
		{"a variable without a name", "extraEnv[0].value=a", "name"},
		{"a certificate that nobody reads", "livekit.enabled=true,livekit.turn.enabled=true,livekit.turn.domain=a,livekit.turn.externalTLS=true,livekit.turn.secretName=b", "externalTLS excludes"},
		{"TURN over UDP on the port of media", "livekit.enabled=true,livekit.turn.udpPort=7882", "a number each"},
		{"the secret of a TURN server in a ConfigMap", "livekit.enabled=true,livekit.config.rtc.turn_servers[0].secret=s", "secret_file"},
		{"a port that the objects do not have", "livekit.enabled=true,livekit.config.turn.udp_port=3478", "livekit.turn.udpPort"},
		{"a switch that the objects do not follow", "livekit.enabled=true,livekit.config.turn.external_tls=false", "livekit.turn.externalTLS"},
		{"a key in a ConfigMap", "livekit.enabled=true,livekit.config.keys.a=b", "livekit.secretName"},
		{"one key for two", "livekit.enabled=true,livekit.secretName=a,livekit.previousSecretName=a", "livekit.previousSecretName"},
		{"TURN at addresses of two families", "livekit.enabled=true,livekit.nodes=2,livekit.redis.address=r:6379,livekit.network=loadBalancer,livekit.loadBalancer.ips={192.0.2.1,2001:db8::1},livekit.turn.udpPort=3478", "one IP family"},
		{"a file of keys", "livekit.enabled=true,livekit.config.key_file=/keys", "livekit.secretName"},
		{"a section that is none", "livekit.enabled=true,livekit.config.rtc=5", "rtc"},
		{"one address of a webhook", "livekit.enabled=true,livekit.config.webhook.urls=http://a", "urls"},
		{"a mirror with a scheme", "global.imageRegistry=https://mirror.example.com", "imageRegistry"},
		{"TURN without a name", "livekit.enabled=true,livekit.turn.enabled=true", "turn.domain"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			_, complaint, err := manifests.TryHelm(t, manifests.SystemNamespace, "--set", c.set)
			if err == nil {
				t.Fatalf("--set %s is taken", c.set)
			}
			if !strings.Contains(complaint, c.says) {
				t.Errorf("the complaint does not name %q:\n%s", c.says, complaint)
			}
		})
	}
}

// TestRenamedValues: every name of earlier charts is refused, whatever is written under it, and the error has the new names of all that are
// used. Null takes one out of what Helm has kept of a release.
func TestRenamedValues(t *testing.T) {
	renamed := map[string]string{}
	var find func(at string, schema map[string]any)
	find = func(at string, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		for key, inner := range properties {
			property := inner.(map[string]any)
			if property["deprecated"] != true {
				find(at+key+".", property)
				continue
			}
			successor, _, _ := strings.Cut(property["description"].(string), " ")
			renamed[at+key] = at + successor
		}
	}
	find("", read(t, "values.schema.json"))
	if len(renamed) != 6 {
		t.Errorf("the schema has %d values with a new name", len(renamed))
	}
	for value, refused := range map[string]bool{"{}": true, "[]": true, "false": true, `"x"`: true, "null": false} {
		var sets []string
		for old := range renamed {
			sets = append(sets, "--set-json", old+"="+value)
		}
		_, complaint, err := manifests.TryHelm(t, manifests.SystemNamespace, sets...)
		if (err != nil) != refused {
			t.Errorf("%s: %v %s", value, err, complaint)
		}
		for old, successor := range renamed {
			if want := fmt.Sprintf("%s is %s now", old, successor); refused && !strings.Contains(complaint, want) {
				t.Errorf("%s: the complaint lacks %q:\n%s", value, want, complaint)
			}
		}
	}
	_, complaint, err := manifests.TryHelm(t, manifests.SystemNamespace, "--set", "extraArgs={--engine-calls-per-second=5}")
	if want := "--engine-calls-per-second in extraArgs is --media-server-calls-per-second now"; err == nil || !strings.Contains(complaint, want) {
		t.Errorf("a flag of before is taken, or the complaint lacks %q: %v %s", want, err, complaint)
	}
}

// TestUmbrellaCharts switch this one on and off by a condition, which they write among its values, or by tags.
func TestUmbrellaCharts(t *testing.T) {
	umbrella := t.TempDir()
	if err := os.CopyFS(filepath.Join(umbrella, "charts", "convene"), os.DirFS(manifests.Chart(t))); err != nil {
		t.Fatal(err)
	}
	file := "apiVersion: v2\nname: platform\nversion: 1.0.0\ndependencies: [{name: convene, version: '*', condition: convene.enabled, tags: [video]}]\n"
	if err := os.WriteFile(filepath.Join(umbrella, "Chart.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for set, deployments := range map[string]int{"convene.replicaCount=3": 1, "convene.enabled=true": 1, "convene.enabled=false": 0, "tags.video=false": 0, "tags.video=true": 1} {
		out, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), "template", "platform", umbrella, "--set", set)
		if err != nil {
			t.Errorf("%s: %s", set, complaint)
			continue
		}
		if got := len(manifests.OfKind(manifests.Parse(t, out), "Deployment")); got != deployments {
			t.Errorf("%s: %d Deployments", set, got)
		}
	}
}

// TestSchemaKnowsEveryValue holds values.yaml and values.schema.json together.
func TestSchemaKnowsEveryValue(t *testing.T) {
	schema, values := read(t, "values.schema.json"), read(t, "values.yaml")
	// An umbrella chart puts into this one what it likes.
	delete(schema["properties"].(map[string]any), "global")
	delete(schema["properties"].(map[string]any), "enabled") // With a default, Helm would ignore the tags of an umbrella chart.
	delete(values, "global")
	compareKeys(t, "", schema, values)
}

func compareKeys(t *testing.T, at string, schema, values map[string]any) {
	t.Helper()
	properties, grouped := schema["properties"].(map[string]any)
	if !grouped {
		return
	}
	maps.DeleteFunc(properties, func(_ string, property any) bool { return property.(map[string]any)["deprecated"] == true })
	if len(properties) == 0 || at == "livekit.config" {
		return // A map whose names its user or LiveKit chooses.
	}
	if schema["additionalProperties"] != false {
		t.Errorf("%s lets unknown names pass", at)
	}
	if at == "resources" || strings.HasSuffix(at, ".resources") {
		return
	}
	if diff := cmp.Diff(keys(properties), keys(values)); diff != "" {
		t.Errorf("%s: values.schema.json (-) and values.yaml (+) differ:\n%s", at, diff)
		return
	}
	for key, property := range properties {
		inner, _ := values[key].(map[string]any)
		compareKeys(t, strings.TrimPrefix(at+"."+key, "."), property.(map[string]any), inner)
	}
}

func keys(m map[string]any) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	sort.Strings(all)
	return all
}

// TestOneSourceOfCRDsAndRoles: the chart and the kustomize base install the same definitions and give the same rights.
func TestOneSourceOfCRDsAndRoles(t *testing.T) {
	base, rendered := manifests.Kustomize(t), manifests.Helm(t, manifests.SystemNamespace)
	if diff := cmp.Diff(specs(manifests.OfKind(base, "CustomResourceDefinition")), specs(manifests.OfKind(rendered, "CustomResourceDefinition"))); diff != "" {
		t.Errorf("kustomize (-) and the chart (+) define:\n%s", diff)
	}
	for inBase, inChart := range map[string]string{
		"ClusterRole/convene-manager-role":   "ClusterRole/convene-system.convene",
		"Role/convene-leader-election-role":  "Role/convene-leader-election",
		"ClusterRole/convene-tenant-admin":   "ClusterRole/convene-tenant-admin",
		"ClusterRole/convene-meeting-editor": "ClusterRole/convene-meeting-editor",
		"ClusterRole/convene-meeting-viewer": "ClusterRole/convene-meeting-viewer",
		"ClusterRole/convene-viewer":         "ClusterRole/convene-viewer",
	} {
		if diff := cmp.Diff(rules(t, base, inBase), rules(t, rendered, inChart)); diff != "" {
			t.Errorf("kustomize's %s (-) and the chart's %s (+) allow:\n%s", inBase, inChart, diff)
		}
	}
	one := rules(t, manifests.Helm(t, manifests.SystemNamespace, "--set", "watchNamespace=meetings"), "Role/convene-system.convene")
	if diff := cmp.Diff(rules(t, base, "ClusterRole/convene-manager-role"), one); diff != "" {
		t.Errorf("with one namespace the chart allows something else (+):\n%s", diff)
	}
	one = rules(t, manifests.Kustomize(t, "one-namespace"), "Role/convene-manager-role")
	if diff := cmp.Diff(rules(t, base, "ClusterRole/convene-manager-role"), one); diff != "" {
		t.Errorf("with one namespace kustomize allows something else (+):\n%s", diff)
	}
	for _, o := range []*unstructured.Unstructured{
		manifests.Find(t, rendered, "CustomResourceDefinition", "meetings.convene.dev"),
		manifests.Find(t, rendered, "CustomResourceDefinition", "conferenceconfigs.convene.dev"),
	} {
		if o.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("helm uninstall would take %s, and everybody's meetings with it", o.GetName())
		}
	}
}

// TestLeasesAreTheManagers: the Role in the managers' namespace is for the Lease that managers of these flags elect with.
func TestLeasesAreTheManagers(t *testing.T) {
	for name, tc := range map[string]struct {
		all    []*unstructured.Unstructured
		role   string
		served string
	}{
		"the chart":                    {manifests.Helm(t, "home"), "convene-leader-election", ""},
		"the chart, for one namespace": {manifests.Helm(t, "home", "--set", "watchNamespace=team-a"), "convene-leader-election", "team-a"},
		"kustomize":                    {manifests.Kustomize(t), "convene-leader-election-role", ""},
		"kustomize, for one namespace": {manifests.Kustomize(t, "one-namespace"), "convene-leader-election-role", manifests.SystemNamespace},
	} {
		var names []string
		for _, rule := range rules(t, tc.all, "Role/"+tc.role) {
			names = append(names, rule.ResourceNames...)
		}
		if diff := cmp.Diff([]string{kube.LeaseName(tc.served)}, names); diff != "" {
			t.Errorf("%s: managers elect with (-), and may write (+):\n%s", name, diff)
		}
	}
}

func specs(all []*unstructured.Unstructured) map[string]any {
	found := map[string]any{}
	for _, o := range all {
		found[o.GetName()] = o.Object["spec"]
	}
	return found
}

func rules(t *testing.T, all []*unstructured.Unstructured, name string) []rbacv1.PolicyRule {
	t.Helper()
	kind, name, _ := strings.Cut(name, "/")
	// Role and ClusterRole have the same rules.
	return manifests.As[struct {
		rbacv1.Role     `json:",inline"`
		AggregationRule any `json:"aggregationRule,omitempty"`
	}](t, manifests.Find(t, all, kind, name)).Rules
}

// TestSecretsOfListedNamespaces: with a list, no rights to Secrets or ConfigMaps are left in the cluster's role, and those that
// were there are bound in each namespace of the list.
func TestSecretsOfListedNamespaces(t *testing.T) {
	all := rules(t, manifests.Kustomize(t), "ClusterRole/convene-manager-role")
	listed := manifests.Helm(t, manifests.SystemNamespace, "--set", "rbac.secretNamespaces={team-a,team-b}")
	component := manifests.Kustomize(t, "secret-namespaces")
	for tool, of := range map[string]struct {
		objects       []*unstructured.Unstructured
		rest, secrets string
	}{
		"chart":     {listed, "ClusterRole/convene-system.convene", "ClusterRole/convene-system.convene-secrets"},
		"kustomize": {component, "ClusterRole/convene-manager-role", "ClusterRole/convene-manager-secrets"},
	} {
		secrets, rest := rules(t, of.objects, of.secrets), rules(t, of.objects, of.rest)
		if diff := cmp.Diff(all, slices.Concat(secrets, rest)); diff != "" {
			t.Errorf("%s allows something else in sum (+):\n%s", tool, diff)
		}
		for _, rule := range rest {
			if slices.Contains(rule.APIGroups, "") {
				t.Errorf("%s allows in all namespaces: %+v", tool, rule)
			}
		}
	}
	var bound []string
	for _, o := range manifests.OfKind(listed, "RoleBinding") {
		if b := manifests.As[rbacv1.RoleBinding](t, o); b.RoleRef.Name == "convene-system.convene-secrets" {
			bound = append(bound, b.Namespace+" to "+b.Subjects[0].Namespace+"/"+b.Subjects[0].Name)
		}
	}
	if want := []string{"team-a to convene-system/convene", "team-b to convene-system/convene"}; !slices.Equal(bound, want) {
		t.Errorf("bound are %q, want %q", bound, want)
	}
}

// administrators is what an administrator of the cluster applies for a team.
var administrators = []string{"--show-only", "templates/administrator/*.yaml"}

// TestWhatATeamMayNotMakeIsTheAdministrators: objects of the cluster, and rights, come from the administrator's templates alone, and
// the two parts of an install in one namespace are the whole.
func TestWhatATeamMayNotMakeIsTheAdministrators(t *testing.T) {
	args := []string{"--values", everything(t)}
	theirs := identities(manifests.Helm(t, "team-a", slices.Concat(args, administrators)...))
	for _, o := range manifests.Helm(t, "team-a", args...) {
		beyond := o.GetNamespace() == "" || o.GroupVersionKind().Group == rbacv1.GroupName
		if beyond != slices.Contains(theirs, identity(o)) {
			t.Errorf("in a team's part: %t, %s", !beyond, identity(o))
		}
	}
	served := []string{"--set", "watchNamespace=team-a"}
	team := manifests.Helm(t, "team-a", slices.Concat(served, []string{"--set", "crds.install=false,rbac.create=false,rbac.userRoles=false"})...)
	parts := identities(slices.Concat(team, manifests.Helm(t, "team-a", slices.Concat(served, administrators)...)))
	if diff := cmp.Diff(identities(manifests.Helm(t, "team-a", served...)), parts); diff != "" {
		t.Errorf("the whole (-) and its two parts (+) differ:\n%s", diff)
	}
}

func identities(all []*unstructured.Unstructured) []string {
	var found []string
	for _, o := range all {
		found = append(found, identity(o))
	}
	slices.Sort(found)
	return found
}

// TestBothInstallsGiveTheSame lists what a platform team is promised.
func TestBothInstallsGiveTheSame(t *testing.T) {
	promised := []string{
		"Deployment", "Service", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy",
		"ServiceMonitor", "PrometheusRule", "ConfigMap", "Ingress", "HTTPRoute",
	}
	for name, all := range map[string][]*unstructured.Unstructured{
		"chart":     manifests.Helm(t, manifests.SystemNamespace, "--values", everything(t), "--set", "livekit.enabled=false"),
		"kustomize": manifests.Kustomize(t, "monitoring", "ingress", "httproute"),
	} {
		for _, kind := range promised {
			if len(manifests.OfKind(all, kind)) == 0 {
				t.Errorf("%s has no %s", name, kind)
			}
		}
	}
	fromChart := manifests.As[appsv1.Deployment](t, manifests.Find(t, manifests.Helm(t, manifests.SystemNamespace), "Deployment", "convene")).Spec.Template.Spec
	fromBase := manifests.As[appsv1.Deployment](t, manifests.Find(t, manifests.Kustomize(t), "Deployment", "convene-controller-manager")).Spec.Template.Spec
	manager, other := fromChart.Containers[0], fromBase.Containers[0]
	slices.Sort(manager.Args)
	slices.Sort(other.Args)
	// json is the default of the flag.
	manager.Args = slices.DeleteFunc(manager.Args, func(a string) bool { return a == "--log-format=json" })
	type compared struct {
		Args      []string
		Env       []corev1.EnvVar
		Ports     []corev1.ContainerPort
		Resources corev1.ResourceRequirements
		Probes    []*corev1.Probe
		Grace     *int64
		Spread    int
	}
	look := func(c corev1.Container, s corev1.PodSpec) compared {
		return compared{
			c.Args, c.Env, c.Ports, c.Resources, []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe},
			s.TerminationGracePeriodSeconds, len(s.TopologySpreadConstraints),
		}
	}
	if diff := cmp.Diff(look(other, fromBase), look(manager, fromChart)); diff != "" {
		t.Errorf("managers of kustomize (-) and of the chart (+) differ:\n%s", diff)
	}
}

// TestPodSecurityCanSayNo: what makes the other test of it worth something.
func TestPodSecurityCanSayNo(t *testing.T) {
	c := testkit.ControlPlane(t)
	namespace(t, c, manifests.SystemNamespace, "restricted")
	all := manifests.Helm(t, manifests.SystemNamespace, "--values", filepath.Join(manifests.Chart(t), "ci", "livekit-on-hosts.yaml"))
	d := manifests.As[appsv1.Deployment](t, manifests.Find(t, all, "Deployment", "convene-livekit"))
	pod := &corev1.Pod{Spec: d.Spec.Template.Spec}
	pod.Namespace, pod.Name = manifests.SystemNamespace, "livekit"
	err := c.Client.Create(t.Context(), pod, client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), "hostNetwork") {
		t.Fatalf("host networking in a restricted namespace: %v", err)
	}
}

// TestFilesOfTheChartAreCopies fails when a source has changed and `make chart` was not run.
func TestFilesOfTheChartAreCopies(t *testing.T) {
	root := testkit.Root(t)
	for copied, source := range map[string]string{
		"crds": "config/crd/bases", "rbac": "config/rbac", "monitoring": "config/components/monitoring",
		"policy": "config/components/allowed-hosts",
	} {
		files, err := filepath.Glob(filepath.Join(manifests.Chart(t), "files", copied, "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("files/%s is empty: %v", copied, err)
		}
		for _, file := range files {
			is, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			should, err := os.ReadFile(filepath.Join(root, source, filepath.Base(file)))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(should, is) {
				t.Errorf("%s is not a copy of the one in %s; run `make chart`", file, source)
			}
		}
	}
}

// panelSelectors are the metrics that panels ask for, with their matchers.
var panelSelectors = regexp.MustCompile(`\b(?:convene|leader_election)_[a-z0-9_]+(?:\{[^}]*\})?`)

// TestDashboardIsWhole, and every panel shows the installations that were chosen.
func TestDashboardIsWhole(t *testing.T) {
	all := manifests.Helm(t, manifests.SystemNamespace, "--set", "monitoring.dashboard.enabled=true")
	config := manifests.As[corev1.ConfigMap](t, manifests.Find(t, all, "ConfigMap", "convene-dashboard"))
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(config.Data["convene-system.convene.json"]), &dashboard); err != nil || len(dashboard.Panels) == 0 {
		t.Fatalf("%d panels: %v", len(dashboard.Panels), err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			selectors := panelSelectors.FindAllString(target.Expr, -1)
			if len(selectors) == 0 || slices.ContainsFunc(selectors, func(s string) bool { return !strings.Contains(s, `{cluster=~"$cluster",namespace=~"$namespace"`) }) {
				t.Errorf("%s shows all installations at once: %s", p.Title, target.Expr)
			}
		}
	}
}
