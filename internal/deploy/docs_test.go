// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// headings are the anchors of a page, as Git servers make them.
func headings(page string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.SplitSeq(page, "\n") {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			anchor := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			all[strings.ReplaceAll(anchor, " ", "-")] = true
		}
	}
	return all
}

// TestRunbookKnowsEveryReasonAndAlert: every reason in a condition and every alert has an entry.
func TestRunbookKnowsEveryReasonAndAlert(t *testing.T) {
	entries := headings(testkit.Documents(t)["docs/operate.md"])
	wanted := append(reasons(t), alerts(t)...)
	if len(wanted) < 40 {
		t.Fatalf("only %d reasons and alerts were found: %q", len(wanted), wanted)
	}
	for _, name := range wanted {
		if !entries[strings.ToLower(name)] {
			t.Errorf("docs/operate.md has no entry for %s", name)
		}
	}
}

// TestTableOfConditionsHasEach: docs/configure.md says of each condition what it means.
func TestTableOfConditionsHasEach(t *testing.T) {
	var rows []string
	for line := range strings.Lines(testkit.Documents(t)["docs/configure.md"]) {
		if strings.HasPrefix(line, "| ") {
			rows = append(rows, line)
		}
	}
	table, wanted := strings.Join(rows, ""), constants(t, "Condition")
	if len(wanted) < 20 {
		t.Fatalf("only %d conditions were found: %q", len(wanted), wanted)
	}
	for _, name := range wanted {
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("docs/configure.md has no row for the condition %s", name)
		}
	}
}

// reasons are the reasons of conditions and of ends.
func reasons(t *testing.T) []string { return constants(t, "Reason") }

// constants are the values of the API's constants whose name begins with a prefix. The reasons of ends count as reasons.
func constants(t *testing.T, prefix string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), "api", "v1alpha1", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			value, ok := spec.Values[0].(*ast.BasicLit)
			isEnd := spec.Type != nil && spec.Type.(*ast.Ident).Name == "EndReason"
			if ok && (isEnd && prefix == "Reason" || strings.HasPrefix(spec.Names[0].Name, prefix)) {
				text, _ := strconv.Unquote(value.Value)
				all = append(all, text)
			}
			return true
		})
	}
	return all
}

// runbook is where docs/operate.md is published. Alertmanager and Grafana look for it in the annotation runbook_url.
const runbook = "https://convene.dev/docs/operate"

func alerts(t *testing.T) []string {
	t.Helper()
	rule := manifests.Find(t, manifests.Kustomize(t, "monitoring"), "PrometheusRule", "convene")
	typed := manifests.As[struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Groups []struct {
				Name  string `json:"name"`
				Rules []struct {
					Alert       string            `json:"alert"`
					Expr        string            `json:"expr"`
					For         string            `json:"for"`
					Labels      map[string]string `json:"labels"`
					Annotations map[string]string `json:"annotations"`
				} `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}](t, rule)
	var all []string
	for _, g := range typed.Spec.Groups {
		for _, r := range g.Rules {
			all = append(all, r.Alert)
			if want := runbook + "#" + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
				t.Errorf("%s leads to %q, not to %q", r.Alert, r.Annotations["runbook_url"], want)
			}
			if !strings.Contains(r.Expr, "namespace") {
				t.Errorf("%s does not tell one installation from another: %s", r.Alert, r.Expr)
			}
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.For == "" {
				t.Errorf("%s lacks a severity, a text or a time", r.Alert)
			}
		}
	}
	return all
}

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// TestLinksOfTheDocumentsLead: to files that are there, and to headings that they have.
func TestLinksOfTheDocumentsLead(t *testing.T) {
	all := testkit.Documents(t)
	for name, page := range all {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(page, ""), -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := name
			if target != "" {
				to = filepath.Join(filepath.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(testkit.Root(t), to)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, found[1])
				continue
			}
			if anchor != "" && !headings(all[to])[anchor] {
				t.Errorf("%s links to %s, and there is no such heading", name, found[1])
			}
		}
	}
}

var apiURL = regexp.MustCompile(`apiURL: "?https?://([^\s:/"]+)`)

// TestAddressesOfServicesEndInSvc: from another namespace NAME leads nowhere, and NAME.NAMESPACE is outside of the NO_PROXY that most
// clusters have.
func TestAddressesOfServicesEndInSvc(t *testing.T) {
	c, pages := testkit.ControlPlane(t), testkit.Documents(t)
	for _, pattern := range []string{"config/samples/*.yaml", "config/gitops/example/*/*/*.yaml", "config/chart/Chart.yaml"} {
		files, err := filepath.Glob(filepath.Join(testkit.Root(t), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %q, %v", pattern, files, err)
		}
		for _, file := range files {
			page, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pages[file] = string(page)
		}
	}
	for _, with := range []string{"livekit.enabled=true", "livekit.enabled=false", "livekit.enabled=true,watchNamespace=team-a"} {
		notes, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), "install", "convene", manifests.Chart(t),
			"--kubeconfig", c.Kubeconfig, "--dry-run=client", "--set", "crds.install=false,"+with)
		if err != nil {
			t.Fatal(complaint)
		}
		pages["NOTES.txt with "+with] = notes
	}
	addresses := 0
	for name, page := range pages {
		for _, found := range apiURL.FindAllStringSubmatch(page, -1) {
			addresses++
			if host := found[1]; !strings.HasSuffix(host, ".svc") && !strings.HasSuffix(host, ".example.com") && host != "127.0.0.1" {
				t.Errorf("%s: %s", name, found[0])
			}
		}
	}
	if addresses < 7 {
		t.Errorf("only %d addresses were found", addresses)
	}
}

var fence = regexp.MustCompile("(?ms)^```(yaml|sh)\n(.*?)^```$")

// TestExamplesOfTheDocumentsAreTaken gives every YAML in the documents to the one who has to take it: objects to the API
// server, values to the chart, kustomizations to kustomize.
func TestExamplesOfTheDocumentsAreTaken(t *testing.T) {
	c := testkit.ControlPlane(t)
	thirdParties(t, c)
	examples := 0
	for name, page := range testkit.Documents(t) {
		for _, found := range fence.FindAllStringSubmatch(page, -1) {
			if found[1] == "sh" {
				for _, document := range heredocs(found[2]) {
					examples++
					tryExample(t, c, name, document)
				}
				continue
			}
			examples++
			tryExample(t, c, name, found[2])
		}
	}
	for with, says := range map[string]string{
		"livekit.secretName=1e3": `secretRef: {name: "1e3"}`, "watchNamespace=12345": `namespace: "12345"`, "livekit.namespace=1e3": `namespace: "1e3"`,
		"ingress.hosts={*.meet.example.com},ingress.path=/video/": "baseURL: https://meet.meet.example.com/video\n",
		"httpRoute.hostnames={example.com},httpRoute.path=/meet":  "baseURL: https://example.com/meet\n",
	} {
		notes, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), "install", "1e3", manifests.Chart(t), "--namespace", "12345",
			"--kubeconfig", c.Kubeconfig, "--dry-run=client", "--set", "crds.install=false,livekit.enabled=true", "--set-string", with)
		if err != nil {
			t.Fatal(complaint)
		}
		if !strings.Contains(notes, says) {
			t.Errorf("the notes with %s lack %q:\n%s", with, says, notes)
		}
		for _, document := range heredocs(regexp.MustCompile("(?m)^  ").ReplaceAllString(notes, "")) {
			examples++
			tryExample(t, c, "NOTES.txt with "+with, document)
		}
	}
	if examples < 15 {
		t.Errorf("only %d examples were found", examples)
	}
}

var heredoc = regexp.MustCompile(`(?ms)<<'EOF'\n(.*?)^EOF$`)

func heredocs(commands string) (documents []string) {
	for _, found := range heredoc.FindAllStringSubmatch(commands, -1) {
		documents = append(documents, found[1])
	}
	return documents
}

func tryExample(t *testing.T, c *testkit.Cluster, page, example string) {
	t.Helper()
	switch {
	case strings.HasPrefix(example, "# values.yaml"):
		file := filepath.Join(t.TempDir(), "values.yaml")
		if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, complaint, err := manifests.TryHelm(t, manifests.SystemNamespace, "--values", file); err != nil {
			t.Errorf("%s: the chart does not take\n%s\n%s", page, example, complaint)
		}
	case strings.Contains(example, "kind: Kustomization"):
		manifests.Parse(t, manifests.Overlay(t, "config", example))
	default:
		for _, o := range manifests.Parse(t, example) {
			if group := o.GroupVersionKind().Group; group != v1alpha1.GroupVersion.Group && group != "gateway.networking.k8s.io" {
				t.Errorf("%s: nobody tries a %s", page, o.GetKind())
				continue
			}
			if o.GetNamespace() == "" {
				o.SetNamespace(c.Namespace)
			}
			home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.GetNamespace()}}
			if err := c.Client.Create(t.Context(), home); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
			apply(t, c, o)
		}
	}
}

// TestArchitectureHasEveryPackage: the table names every package, and nothing that is not there. A package of tests or of a command's parts
// may be within another that is named.
func TestArchitectureHasEveryPackage(t *testing.T) {
	page := testkit.Documents(t)["docs/architecture.md"]
	rows := regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(page, -1)
	named := map[string]bool{}
	for _, row := range rows {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			named[name[1]] = true
			if _, err := os.Stat(filepath.Join(testkit.Root(t), name[1])); err != nil {
				t.Errorf("docs/architecture.md names %s: %v", name[1], err)
			}
		}
	}
	if len(named) < 30 {
		t.Fatalf("only %d packages were found", len(named))
	}
	for _, root := range []string{"api", "cmd", "controllers", "internal", "hack"} {
		err := fs.WalkDir(os.DirFS(testkit.Root(t)), root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return cmp.Or(err, fs.SkipDir)
			}
			folder := filepath.Dir(path)
			if strings.HasSuffix(path, ".go") && !named[folder] && !named[filepath.Dir(folder)] {
				t.Errorf("docs/architecture.md lacks %s", folder)
				named[folder] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFiguresAreInOnePlace: what was measured is in docs/performance.md, and the other documents lead there.
func TestFiguresAreInOnePlace(t *testing.T) {
	figure := regexp.MustCompile(`\d ?µs|\d ?MB for [\d,]+ meetings|\d MB resident|\d a second, \d+ %|\d/s\b`)
	for name, page := range testkit.Documents(t) {
		if found := figure.FindString(page); name != "docs/performance.md" && !strings.HasPrefix(name, "docs/decisions/") && found != "" {
			t.Errorf("%s has %q, which belongs in docs/performance.md", name, found)
		}
	}
}

// TestHelpNamesEachGroupOnce: who looks for a check finds all of them in one place, and none under what changes a cluster.
func TestHelpNamesEachGroupOnce(t *testing.T) {
	command := exec.CommandContext(t.Context(), "make", "-s", "help")
	command.Dir, command.Env = testkit.Root(t), append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]int{}
	group := ""
	for line := range strings.SplitSeq(string(out), "\n") {
		target, isTarget := strings.CutPrefix(line, "  ")
		switch {
		case line == "":
		case !isTarget:
			group = line
			groups[group]++
		case strings.HasPrefix(target, "test") && group != "Check":
			t.Errorf("make help has under %s: %s", group, line)
		}
	}
	for group, times := range groups {
		if times != 1 {
			t.Errorf("make help has the group %s %d times", group, times)
		}
	}
	if len(groups) < 4 {
		t.Errorf("the groups are %v", groups)
	}
}

// TestFieldsOfTheDocumentsAreThere: a path such as spec.apiURL, in a document, is one of Convene's objects.
func TestFieldsOfTheDocumentsAreThere(t *testing.T) {
	fields := map[string]bool{"spec.replicas": true, "spec.hostnames": true} // Of a Deployment and an HTTPRoute.
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &definition); err != nil {
			t.Fatal(err)
		}
		addFields(fields, "", *definition.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
	path := regexp.MustCompile("`((?:spec|status)\\.[A-Za-z.]+)`")
	found := 0
	for name, page := range testkit.Documents(t) {
		if name == "CHANGELOG.md" || name == "docs/stability.md" || strings.HasPrefix(name, "docs/decisions/") {
			continue // They name fields of before.
		}
		for _, match := range path.FindAllStringSubmatch(page, -1) {
			found++
			if !fields[match[1]] {
				t.Errorf("%s: there is no %s", name, match[1])
			}
		}
	}
	if found < 80 {
		t.Errorf("only %d fields were found", found)
	}
}

func addFields(fields map[string]bool, path string, of apiextensionsv1.JSONSchemaProps) {
	for name, property := range of.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		fields[at] = true
		addFields(fields, at, property)
		if property.Items != nil && property.Items.Schema != nil {
			addFields(fields, at, *property.Items.Schema)
		}
	}
}
