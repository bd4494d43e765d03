// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// Keys that the operator's own files hold, and what they switch off.
const (
	envKey = "9f3c$1a0e77b64be2=8d15"
	jsKey  = "key-in-the-environment-of-config-js"
)

// sources makes ConferenceConfigs that say the same in fields and in an operator's own files.
func sources(t *testing.T, c *testkit.Cluster) (hosts map[string]string) {
	t.Helper()
	files := filepath.Join(testkit.Root(t), "internal", "source", "testdata")
	script, dotenv := filepath.Join(files, "config.js"), filepath.Join(files, "service.env")
	text, err := os.ReadFile(dotenv)
	if err != nil {
		t.Fatal(err)
	}
	// kubectl reads no values of several lines.
	lines := filepath.Join(t.TempDir(), ".env")
	oneLine := regexp.MustCompile(`(?s)SSL_KEY=".*?"`).ReplaceAllString(string(text), "SSL_KEY=")
	oneLine = regexp.MustCompile(`(?m)^export |^WEBHOOK_URL.*$`).ReplaceAllString(oneLine, "")
	oneLine = regexp.MustCompile(`(?m) # keep it to yourself$`).ReplaceAllString(oneLine, "")
	if err := os.WriteFile(lines, []byte(oneLine), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Kubectl(t, "create", "secret", "generic", "from-env-file", "--from-env-file="+lines)
	c.Kubectl(t, "create", "secret", "generic", "from-file", "--from-file=.env="+dotenv)
	c.Kubectl(t, "create", "secret", "generic", "script", "--from-file=config.js="+script, "--from-literal=API_KEY_SECRET="+jsKey)
	c.Kubectl(t, "create", "configmap", "shared", "--from-literal=API_KEY_SECRET=the-later-one-counts", `--from-literal=API_DISABLED=["stats"]`)
	c.Kubectl(t, "create", "configmap", "script", "--from-file=config.js="+script)
	c.Kubectl(t, "create", "secret", "generic", "script-env", "--from-literal=API_KEY_SECRET="+jsKey)
	c.Kubectl(t, "create", "secret", "generic", "keys", "--from-literal=a="+jsKey, "--from-literal=b="+envKey)
	c.Kubectl(t, "create", "secret", "generic", "users", "--from-literal=htpasswd="+htpasswd(t, "ada", "ada's"))

	c.Kubectl(t, "label", "secrets", "--all", v1alpha1.LabelUsedBy+"="+v1alpha1.UsedByConferenceConfig)

	fields := func(key string) []v1alpha1.SecretKeyReference {
		return []v1alpha1.SecretKeyReference{{Name: "keys", Key: key}}
	}
	// The config.js has everybody log in. Its users are the one thing of it that is named, whatever the rest is said in.
	users := &v1alpha1.AccessSpec{UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}}
	everybody := users.DeepCopy()
	everybody.Protected = new(true)
	specs := map[string]v1alpha1.ConferenceConfigSpec{
		"fields-b": {Variant: v1alpha1.VariantB, API: &v1alpha1.APISpec{KeySecretRefs: fields("b"), Disabled: []string{"token", "meetings"}}},
		"env-file-b": {Variant: v1alpha1.VariantB, Source: &v1alpha1.SourceSpec{
			Env: &v1alpha1.EnvSource{SecretRef: &v1alpha1.SecretReference{Name: "from-env-file"}},
		}},
		"file-b": {Variant: v1alpha1.VariantB, Source: &v1alpha1.SourceSpec{Env: &v1alpha1.EnvSource{SecretRef: &v1alpha1.SecretReference{Name: "from-file"}}}},
		"objects-b": {Variant: v1alpha1.VariantB, Source: &v1alpha1.SourceSpec{Env: &v1alpha1.EnvSource{From: []v1alpha1.EnvFromSource{
			{ConfigMapRef: &v1alpha1.ConfigMapReference{Name: "shared"}}, {SecretRef: &v1alpha1.SecretReference{Name: "from-file"}},
		}}}},
		"fields-a": {Variant: v1alpha1.VariantA, Access: everybody, API: &v1alpha1.APISpec{KeySecretRefs: fields("a"), Allowed: map[string]bool{
			"stats": true, "meetings": false, "meeting": true, "meetingEnd": true, "join": true, "token": false,
		}}},
		"secret-a": {Variant: v1alpha1.VariantA, Access: users, Source: &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{
			SecretKeyRef: &v1alpha1.SecretKeyReference{Name: "script", Key: "config.js"},
		}}},
		"map-a": {Variant: v1alpha1.VariantA, Access: users, Source: &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{
			ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "script", Key: "config.js"}, EnvSecretRef: &v1alpha1.SecretReference{Name: "script-env"},
		}}},
	}
	hosts = map[string]string{}
	for name, spec := range specs {
		hosts[name] = name + ".example.com"
		spec.BaseURL = "https://" + hosts[name]
		config := &v1alpha1.ConferenceConfig{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}, Spec: spec}
		if err := c.Client.Create(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	return hosts
}

// TestSourcesBehaveAsFields: an operator's own .env and config.js, as they are, give the same answers to every request as
// the fields that say the same.
func TestSourcesBehaveAsFields(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.ControlPlane(t)
	hosts := sources(t, cluster)
	manager := testkit.Manager(t, cluster, testkit.ManagerOptions{Args: []string{"--trusted-proxies=127.0.0.0/8"}})
	const login = `{"room":"r","name":"n","token":{"username":"ada","password":"ada's"}}`
	calls := 0
	transcript := func(name, key string) string {
		at := account{t: t, baseURL: manager.URL}
		var said strings.Builder
		for _, presented := range []string{key, `"` + key + `"`, "wrong", "", jsKey, envKey, "meetings_default_secret"} {
			for _, call := range []struct{ method, path, body string }{
				{"GET", "/api/v1/stats", ""}, {"GET", "/api/v1/meetings", ""}, {"POST", "/api/v1/meeting", `{"room":"r"}`},
				{"POST", "/api/v1/join", `{"room":"r","name":"n"}`}, {"POST", "/api/v1/join", `{"room":"r","name":"n","token":{"username":"ada","password":"wrong"}}`},
				{"POST", "/api/v1/join", login}, {"POST", "/api/v1/token", `{"username":"u","password":"p"}`},
				{"DELETE", "/api/v1/meeting/r", ""}, {"GET", "/api/v1/docs/openapi.json", ""}, {"GET", "/api/v1/nothing", ""},
			} {
				request, err := http.NewRequestWithContext(t.Context(), call.method, manager.URL+call.path, strings.NewReader(call.body))
				if err != nil {
					t.Fatal(err)
				}
				request.Host = hosts[name]
				calls++
				request.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.%d.%d", calls/250, calls%250)) // The limit on wrong keys is another test's.
				if presented != "" {
					request.Header.Set("Authorization", presented)
				}
				r := at.do(request)
				fmt.Fprintf(&said, "%s %s with %q: %d %s\n", call.method, call.path, presented, r.status, plain(r.raw, name))
			}
		}
		return said.String()
	}
	served := func(name, key string) func() error {
		return func() error {
			request, err := http.NewRequestWithContext(t.Context(), "POST", manager.URL+"/api/v1/join", strings.NewReader(login))
			if err != nil {
				return err
			}
			request.Host = hosts[name]
			request.Header.Set("Authorization", key)
			if r := (account{t: t}).do(request); r.status != http.StatusOK {
				return fmt.Errorf("%s: %d %s", name, r.status, r.raw)
			}
			return nil
		}
	}
	for _, group := range []struct {
		key, fields string
		files       []string
	}{{envKey, "fields-b", []string{"env-file-b", "file-b", "objects-b"}}, {jsKey, "fields-a", []string{"secret-a", "map-a"}}} {
		for _, name := range append([]string{group.fields}, group.files...) {
			testkit.Eventually(t, patience, served(name, group.key))
		}
		want := transcript(group.fields, group.key)
		if !strings.Contains(want, "GET /api/v1/meetings with "+fmt.Sprintf("%q", group.key)+": 403") || !strings.Contains(want, "disabled") {
			t.Fatalf("the fields switch nothing off:\n%s", want)
		}
		for _, name := range group.files {
			if diff := cmp.Diff(want, transcript(name, group.key)); diff != "" {
				t.Errorf("%s (-fields +file)\n%s", name, diff)
			}
		}
	}
}

var (
	signedText = regexp.MustCompile(`eyJ[\w.-]+`)
	timeText   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`)
)

// plain takes out of an answer what differs from tenant to tenant and from moment to moment.
func plain(raw, name string) string {
	raw = strings.ReplaceAll(raw, name+".example.com", "HOST")
	return timeText.ReplaceAllString(signedText.ReplaceAllString(raw, "SIGNED"), "TIME")
}
