// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// book is a reader of docs/install.md and docs/operate.md with a cluster that has no nodes: what pods would run is
// started beside it, with the arguments and the service accounts that the cluster's objects name.
type book struct {
	*world
	t *testing.T
	// home is the release's namespace.
	home string
}

// TestByTheBook goes the way of a platform team, from the first command of the documentation to the last: install, a
// tenant, a meeting, upgrade, backup, a disaster, restore, uninstall.
func TestByTheBook(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	c := testkit.EmptyControlPlane(t)
	b := &book{&world{Cluster: c}, t, manifests.SystemNamespace}
	c.Recipe(t, "helm-install", testkit.RecipeOptions{})
	b.runDeployment()

	c.Recipe(t, "livekit-nodes", testkit.RecipeOptions{Files: map[string]string{"values.yaml": "livekit: {enabled: true, namespace: media, nodes: 1}\n"}})
	c.Recipe(t, "media-server", testkit.RecipeOptions{})
	b.runLiveKit()
	c.Recipe(t, "media-server-ready", testkit.RecipeOptions{})
	b.changeKey()
	c.Recipe(t, "media-server-key", testkit.RecipeOptions{Fill: map[string]string{"apiKey=…": "apiKey=" + b.livekit.Key, "apiSecret=…": "apiSecret=" + b.livekit.Secret}})
	c.Kubectl(t, "patch", "mediaserver", "livekit", "--namespace=media", "--type=merge", "--patch", `{"spec":{"secretRef":{"name":"livekit"}}}`)
	c.Recipe(t, "media-server-ready", testkit.RecipeOptions{})
	c.Namespace = "meetings"
	c.Recipe(t, "tenant", testkit.RecipeOptions{Fill: map[string]string{"https://meet.example.com": b.manager.URL}})
	out := c.Recipe(t, "first-meeting", testkit.RecipeOptions{Fill: map[string]string{"https://meet.example.com": b.manager.URL}})
	if !strings.Contains(out, b.manager.URL+"/join/") || !strings.Contains(out, "unlimited") {
		t.Errorf("the first meeting looks like this:\n%s", out)
	}
	b.Create(t, b.meeting("board"))
	out = c.Recipe(t, "look", testkit.RecipeOptions{})
	for _, text := range []string{"People can enter at", "Serving", "meeting.convene.dev/board patched"} {
		if !strings.Contains(out, text) {
			t.Errorf("a look does not show %q:\n%s", text, out)
		}
	}
	if out := c.Recipe(t, "look-at-media", testkit.RecipeOptions{}); !strings.Contains(out, "udp_port: 7882") || !strings.Contains(out, "convene-livekit") {
		t.Errorf("a look at LiveKit shows\n%s", out)
	}
	if out := c.Recipe(t, "drain", testkit.RecipeOptions{}); !strings.Contains(out, "true") {
		t.Errorf("a media server that is draining looks like this:\n%s", out)
	}
	c.Kubectl(t, "patch", "mediaserver", "livekit", "--namespace=media", "--type=merge", "--patch", `{"spec":{"draining":false}}`)
	c.Recipe(t, "upgrade", testkit.RecipeOptions{})
	if image := b.deployment().Spec.Template.Spec.Containers[0].Image; image != "registry.example.com/convene:v0.2.0" {
		t.Errorf("after the upgrade the managers are of %s", image)
	}

	b.loseAndRestore()

	c.Recipe(t, "uninstall", testkit.RecipeOptions{})
	if out := b.Kubectl(t, "get", "crd", "--output=name"); strings.Contains(out, v1alpha1.GroupVersion.Group) {
		t.Errorf("definitions are left: %s", out)
	}
	left := b.Kubectl(t, "get", "deployments,jobs,serviceaccounts,roles,clusterroles,services", "--namespace", manifests.SystemNamespace, "--output=name")
	if strings.Contains(left, "convene") {
		t.Errorf("left over: %s", left)
	}
}

func (b *book) deployment() *appsv1.Deployment {
	b.t.Helper()
	var d appsv1.Deployment
	if err := b.Client.Get(b.t.Context(), client.ObjectKey{Namespace: b.home, Name: "convene"}, &d); err != nil {
		b.t.Fatal(err)
	}
	return &d
}

// runDeployment starts what a pod of the managers would run. Only the addresses are this machine's.
func (b *book) runDeployment() {
	b.t.Helper()
	pod := b.deployment().Spec.Template.Spec
	args := slices.DeleteFunc(slices.Clone(pod.Containers[0].Args), func(arg string) bool { return strings.Contains(arg, "-bind-address=") })
	b.manager = testkit.Manager(b.t, b.Cluster, testkit.ManagerOptions{
		Kubeconfig: serviceAccountKubeconfig(b.t, b.Cluster, b.home, pod.ServiceAccountName),
		// The first overrules the testkit's. A Deployment for one namespace overrules it in turn.
		Args: slices.Concat([]string{"--namespace="}, args, []string{"--leader-election-namespace=" + b.home}),
	})
	b.a = account{t: b.t, baseURL: b.manager.URL}
}

// runLiveKit starts what a pod of the chart's LiveKit would run, with the key that Helm has made. The MediaServer names its Service and its key. This
// machine has no network of a cluster, so the address alone is changed to this machine's.
func (b *book) runLiveKit() {
	b.t.Helper()
	var named v1alpha1.MediaServer
	if err := b.Client.Get(b.t.Context(), client.ObjectKey{Namespace: "media", Name: "livekit"}, &named); err != nil {
		b.t.Fatal(err)
	}
	var service corev1.Service
	var key corev1.Secret
	for o, name := range map[client.Object]string{&service: "convene-livekit", &key: named.Spec.SecretRef.Name} {
		if err := b.Client.Get(b.t.Context(), client.ObjectKey{Namespace: "media", Name: name}, o); err != nil {
			b.t.Fatalf("what the recipe names is not there: %v", err)
		}
	}
	if want := fmt.Sprintf("http://%s.%s.svc:%d", service.Name, service.Namespace, service.Spec.Ports[0].Port); named.Spec.APIURL != want {
		b.t.Errorf("the recipe has the address %s, and the chart's Service is %s", named.Spec.APIURL, want)
	}
	b.livekit = testkit.LiveKit(b.t, testkit.LiveKitOptions{Key: string(key.Data["apiKey"]), Secret: string(key.Data["apiSecret"])})
	b.Kubectl(b.t, "patch", "mediaserver", "livekit", "--namespace=media", "--type=merge", "--patch", fmt.Sprintf(`{"spec":{"apiURL":%q}}`, b.livekit.URL))
}

// changeKey gives LiveKit another key. In place of its pods, a LiveKit with the keys that their Secrets hold is started.
func (b *book) changeKey() {
	t := b.t
	t.Helper()
	b.Recipe(t, "livekit-key-both", testkit.RecipeOptions{})
	var pods appsv1.Deployment
	if err := b.Client.Get(t.Context(), client.ObjectKey{Namespace: "media", Name: "convene-livekit"}, &pods); err != nil {
		t.Fatal(err)
	}
	value := map[string]string{}
	for _, e := range pods.Spec.Template.Spec.Containers[0].Env {
		if e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil {
			continue
		}
		var secret corev1.Secret
		if err := b.Client.Get(t.Context(), client.ObjectKey{Namespace: "media", Name: e.ValueFrom.SecretKeyRef.Name}, &secret); err != nil {
			t.Fatal(err)
		}
		value[e.Name] = string(secret.Data[e.ValueFrom.SecretKeyRef.Key])
	}
	if value["LIVEKIT_PREVIOUS_API_KEY"] != b.livekit.Key || value["LIVEKIT_PREVIOUS_API_SECRET"] != b.livekit.Secret {
		t.Fatalf("LiveKit does not take the key of before: %v", value)
	}
	more := map[string]string{b.livekit.Key: b.livekit.Secret}
	b.livekit.Stop()
	b.livekit = testkit.LiveKit(t, testkit.LiveKitOptions{Key: value["LIVEKIT_API_KEY"], Secret: value["LIVEKIT_API_SECRET"], MoreKeys: more})
	b.Kubectl(t, "patch", "mediaserver", "livekit", "--namespace=media", "--type=merge", "--patch", fmt.Sprintf(`{"spec":{"apiURL":%q}}`, b.livekit.URL))
	b.Recipe(t, "livekit-key-use", testkit.RecipeOptions{})
	b.Recipe(t, "livekit-key-old", testkit.RecipeOptions{})
	b.Recipe(t, "media-server-ready", testkit.RecipeOptions{})
}

// loseAndRestore takes everything in the tenant's namespace away and brings it back.
func (b *book) loseAndRestore() {
	t := b.t
	t.Helper()
	var key corev1.Secret
	if err := b.Client.Get(t.Context(), b.key("api-key"), &key); err != nil {
		t.Fatal(err)
	}
	b.a.key = string(key.Data["key"])
	token := b.a.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{"username": "ada", "password": "x", "presenter": true}).text("token")
	link := b.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "locked", "name": "Ada", "roomPassword": "sesame"}).text("join")
	b.eventually(t, func() error { return phaseIs(b.meetingsOf(t, "locked"), v1alpha1.MeetingActive) })
	clone := t.TempDir()
	b.Recipe(t, "backup", testkit.RecipeOptions{Dir: clone})

	b.manager.Stop()
	b.Kubectl(t, "delete", "meetings,conferenceconfigs,secrets", "--all", "--timeout=30s")

	b.Recipe(t, "restore", testkit.RecipeOptions{Dir: clone})
	b.manager.Start(t)
	b.eventually(t, func() error { return b.configReady("default") })
	b.eventually(t, func() error { return phaseIs(b.meetingsOf(t, "locked"), v1alpha1.MeetingActive) })
	if ended := b.meetingsOf(t, "board"); len(ended) > 0 {
		t.Errorf("a meeting that had ended is back: %+v", ended)
	}
	b.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "other", "name": "Ada", "token": token})
	at, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	if status, e := b.a.session(map[string]any{"room": "locked", "name": "Ada", "ticket": at.Query().Get("token")}); status != http.StatusOK {
		t.Errorf("a link from before the disaster leads to %d %s", status, e.Error)
	}
	b.a.refused("the password is lost", map[string]any{"room": "locked", "name": "Eve"}, "PasswordRequired")
}

// TestOneNamespaceByTheBook: an administrator of the cluster applies their part, and a user who is admin of one namespace, and nothing
// else, installs, names a media server, holds a meeting, upgrades and uninstalls.
func TestOneNamespaceByTheBook(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	c := testkit.EmptyControlPlane(t)
	c.Namespace = "team-a"
	c.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}})
	b := &book{&world{Cluster: c, livekit: testkit.LiveKit(t, testkit.LiveKitOptions{})}, t, c.Namespace}
	c.Recipe(t, "one-namespace-administrator", testkit.RecipeOptions{})
	bindAdmin(t, c, "ada")
	ada := c.As(t, "ada")
	if out, err := ada.TryKubectl(t, "create", "namespace", "another"); err == nil {
		t.Fatalf("an admin of one namespace may do more: %s", out)
	}
	values := yamlOf(testkit.Documents(t)[filepath.Join("docs", "install.md")], "watchNamespace: team-a")
	ada.Recipe(t, "one-namespace-team", testkit.RecipeOptions{Files: map[string]string{"values.yaml": values}})
	b.runDeployment()

	b.a.key = "key-of-team-a-0123456789"
	ada.Secret(t, v1alpha1.UsedByConferenceConfig, "api-a", map[string]string{"key": b.a.key})
	ada.Secret(t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": b.livekit.Key, "apiSecret": b.livekit.Secret})
	tenant := b.config("default")
	tenant.Spec.BaseURL, tenant.Spec.MediaRefs = b.a.baseURL, testkit.MediaRefs("livekit")
	ada.Create(t, testkit.MediaServer(c.Namespace, b.livekit.URL), tenant)
	b.eventually(t, func() error { return b.configReady("default") })
	b.a.mustEnter(map[string]any{"ticket": b.a.ticket(map[string]any{"room": "board", "name": "Ada"})})
	if out := ada.Kubectl(t, "get", "meetings"); !strings.Contains(out, "board") {
		t.Errorf("the team sees its meetings so:\n%s", out)
	}

	helm := func(args ...string) {
		t.Helper()
		args = append(args, "--kubeconfig", ada.Kubeconfig, "--namespace", ada.Namespace)
		if _, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), args...); err != nil {
			t.Errorf("helm %q: %v\n%s", args, err, complaint)
		}
	}
	c.Recipe(t, "one-namespace-administrator", testkit.RecipeOptions{Fill: map[string]string{"kubectl -n team-a create rolebinding": "true"}})
	helm("upgrade", "convene", manifests.Chart(t), "--reset-then-reuse-values", "--set", "image.tag=v2")
	helm("uninstall", "convene")
	if left := c.Kubectl(t, "get", "deployments,serviceaccounts,services,networkpolicies", "--output=name"); strings.Contains(left, "convene") {
		t.Errorf("left over: %s", left)
	}
	if err := b.Client.Get(t.Context(), client.ObjectKeyFromObject(tenant), tenant); err != nil {
		t.Errorf("the tenant went with the release: %v", err)
	}
}

// TestMigrationByTheBook takes the files of both variants as docs/migrate.md says.
func TestMigrationByTheBook(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	const key = "key-of-the-old-service-0123456789"
	files := map[string]string{
		// `kubectl create secret --from-env-file` refuses all of these lines but the last, or changes their values.
		".env": "# Secrets\nexport API_KEY_SECRET = \"" + key + "\" # a comment\nAPI_DISABLED='[\n  \"token\"\n]'\n" +
			"a line of nothing\nTHEME COLOR=dark\nAPI_KEY_SECRET_2: x\nJWT_EXP=1h\nJWT_EXP=2h\n",
		"config.js": "module.exports = { api: { keySecret: process.env.API_KEY_SECRET, allowed: { stats: true, token: false } } };\n",
	}
	document := testkit.Documents(t)[filepath.Join("docs", "migrate.md")]
	dir := t.TempDir()
	recipe := func(t *testing.T, name string, fill ...string) string {
		t.Helper()
		o := testkit.RecipeOptions{Files: files, Dir: dir, Fill: map[string]string{"-n meetings": "-n " + w.Namespace}}
		for i := 0; i < len(fill); i += 2 {
			o.Fill[fill[i]] = fill[i+1]
		}
		return w.Recipe(t, name, o)
	}
	w.Recipe(t, "migrate-namespace", testkit.RecipeOptions{Fill: map[string]string{"create namespace meetings": "get namespace " + w.Namespace}})
	recipe(t, "migrate-env")
	recipe(t, "migrate-config")
	for _, name := range []string{"service-b", "service-a"} {
		old := account{t: t, baseURL: strings.Replace(w.a.baseURL, "127.0.0.1", name+".localhost", 1), key: key}
		found := false
		for _, o := range manifests.Parse(t, yamlOf(document, "name: "+name+"\n")) {
			found = o.GetName() == name
			o.SetNamespace(w.Namespace)
			o.Object["spec"].(map[string]any)["baseURL"] = old.baseURL
			o.Object["spec"].(map[string]any)["mediaRefs"].([]any)[0].(map[string]any)["namespace"] = w.Namespace
			w.Create(t, o)
		}
		if !found {
			t.Fatalf("docs/migrate.md has no ConferenceConfig %s", name)
		}
		w.eventually(t, func() error { return w.configReady(name) })
		// Ready is what the leader knows. Another replica may hear of the host a moment later.
		w.eventually(t, func() error { return old.reaches(http.StatusOK, "GET", "/api/v1/stats") })
		w.eventually(t, func() error { return old.reaches(http.StatusForbidden, "POST", "/api/v1/token") })
	}

	recipe(t, "migrate-again")
	// The first user comes with the commands of htpasswd, which is not on every machine.
	files["htpasswd"] = htpasswd(t, "ada", "correct-horse")
	recipe(t, "migrate-users", "htpasswd -cB htpasswd ada", "true")
	if said := recipe(t, "migrate-look"); !strings.Contains(said, "\nUsersResolved=True: ") || !strings.Contains(said, "Ready=True: ") {
		t.Errorf("migrate-look: %s", said)
	}
	moved := strings.Replace(w.a.baseURL, "127.0.0.1", "old-service.localhost", 1)
	recipe(t, "migrate-switch", "https://meet.example.com", moved, `"meet.example.com","sfu-new.example.com"`, `"old-service.localhost","service-a.localhost"`)
	for _, host := range []string{"old-service", "service-a"} {
		at := account{t: t, baseURL: strings.Replace(w.a.baseURL, "127.0.0.1", host+".localhost", 1), key: key}
		w.eventually(t, func() error { return at.reaches(http.StatusOK, "GET", "/api/v1/stats") })
	}
}

// yamlOf is the example of a document that has a text.
func yamlOf(document, text string) string {
	for _, block := range strings.Split(document, "```") {
		if example, ok := strings.CutPrefix(block, "yaml\n"); ok && strings.Contains(example, text) {
			return example
		}
	}
	return ""
}

// reaches calls a tenant by its host, whatever that resolves to here.
func (a account) reaches(status int, method, path string) error {
	at, err := url.Parse(a.baseURL)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(a.t.Context(), method, "http://127.0.0.1:"+at.Port()+path, http.NoBody)
	if err != nil {
		return err
	}
	request.Host = at.Host
	request.Header.Set("authorization", a.key)
	if r := a.do(request); r.status != status {
		return fmt.Errorf("%s %s of %s answers %d %s, want %d", method, path, at.Host, r.status, r.raw, status)
	}
	return nil
}
