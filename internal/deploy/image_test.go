// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// instruction is one of a Dockerfile, in a stage.
type instruction struct{ stage, verb, rest string }

// dockerfile is read without its flags (--mount, --from and --platform) and without comments.
func dockerfile(t *testing.T) (all []instruction) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testkit.Root(t), "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(raw), "")
	text = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(text, " ")
	stage := ""
	for line := range strings.Lines(text) {
		words := slices.DeleteFunc(strings.Fields(line), func(w string) bool { return strings.HasPrefix(w, "--") && !strings.HasPrefix(w, "--assume-old") })
		if len(words) == 0 {
			continue
		}
		if words[0] == "FROM" {
			stage = words[len(words)-1]
		}
		all = append(all, instruction{stage, words[0], strings.Join(words[1:], " ")})
	}
	return all
}

func of(all []instruction, stage, verb string) (rest []string) {
	for _, i := range all {
		if i.verb == verb && (stage == "" || i.stage == stage) {
			rest = append(rest, i.rest)
		}
	}
	return rest
}

// TestImagesNameTheirRegistry: nodes may refuse names without one (CRI-O does), and where they do not, whose image comes is for each
// node to decide.
func TestImagesNameTheirRegistry(t *testing.T) {
	named := func(where, image string) {
		t.Helper()
		if registry, _, ok := strings.Cut(image, "/"); !ok || registry != "localhost" && !strings.ContainsAny(registry, ".:") {
			t.Errorf("%s names the image %s without a registry", where, image)
		}
	}
	renderings := map[string][]*unstructured.Unstructured{
		"kustomize": manifests.Kustomize(t),
		// The example of values with every part names an image of its own.
		"the chart, by default": manifests.Helm(t, manifests.SystemNamespace, "--set", "livekit.enabled=true,livekit.redis.create=true,livekit.redis.passwordSecretName=redis"),
		"the chart, with all":   manifests.Helm(t, manifests.SystemNamespace, "--values", everything(t)),
		"an umbrella's mirror": manifests.Helm(t, manifests.SystemNamespace, "--set", "livekit.enabled=true,livekit.redis.create=true,livekit.redis.passwordSecretName=redis",
			"--set", "image.repository=team/convene,global.imageRegistry=mirror.example.com:5000/all"),
	}
	for where, all := range renderings {
		pods := templatesOf(t, all)
		if len(pods) == 0 {
			t.Errorf("%s has no pods", where)
		}
		for name, pod := range pods {
			for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
				named(where+": "+name, c.Image)
				if where == "an umbrella's mirror" && !strings.HasPrefix(c.Image, "mirror.example.com:5000/all/") || strings.Contains(c.Image, "all/docker.io") {
					t.Errorf("%s is not of the mirror: %s", name, c.Image)
				}
			}
		}
	}
	notes, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), "install", "convene", manifests.Chart(t), "--kubeconfig", testkit.ControlPlane(t).Kubeconfig,
		"--dry-run=client", "--set", "crds.install=false,image.repository=team/convene")
	if err != nil || !strings.Contains(notes, "The image team/convene names no registry.") {
		t.Errorf("a name without a registry is taken in silence: %v %s", err, complaint)
	}
	hub, err := os.ReadFile(filepath.Join(manifests.Chart(t), "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^ +image: (\S+)$`).FindAllSubmatch(hub, -1) {
		named("Chart.yaml", string(found[1]))
	}
	for _, from := range of(dockerfile(t), "", "FROM") {
		named("the Dockerfile", strings.Fields(from)[0])
	}
}

// TestTheImageIsBuiltByMake: nobody builds images here, so what the Dockerfile runs is what CI runs: make web, and
// bin/manager for each architecture (make verify-image).
func TestTheImageIsBuiltByMake(t *testing.T) {
	all := dockerfile(t)
	want := []string{
		"make web",
		"go mod download",
		"GOOS=$TARGETOS GOARCH=$TARGETARCH make --assume-old=web bin/manager VERSION=$VERSION COMMIT=$COMMIT" +
			" && make --assume-old=web --assume-old=bin/manager bin/THIRD_PARTY_NOTICES",
	}
	if diff := cmp.Diff(want, of(all, "", "RUN")); diff != "" {
		t.Errorf("steps (-want +got); CI has to run the new ones, too:\n%s", diff)
	}
	const final = "image"
	if runs := of(all, final, "RUN"); len(runs) > 0 {
		t.Errorf("an image without a shell runs %q", runs)
	}
	if user := of(all, final, "USER"); !cmp.Equal(user, []string{"65532:65532"}) {
		t.Errorf("it runs as %q; Kubernetes can only tell of a number that it is not root", user)
	}
	if entry := of(all, final, "ENTRYPOINT"); !cmp.Equal(entry, []string{`["/manager"]`}) {
		t.Errorf("it runs %q", entry)
	}
	for _, copied := range []string{"/src/LICENSE /LICENSE", "/src/bin/THIRD_PARTY_NOTICES /THIRD_PARTY_NOTICES", "/src/bin/manager /manager"} {
		if !slices.Contains(of(all, final, "COPY"), copied) {
			t.Errorf("it lacks %s", copied)
		}
	}
	for _, base := range of(all, "", "FROM") {
		if !regexp.MustCompile(`@sha256:[0-9a-f]{64} AS `).MatchString(base) {
			t.Errorf("%q is not pinned by its digest", base)
		}
	}
	for _, label := range []string{"title", "licenses", "version", "revision", "base.name"} {
		if !strings.Contains(strings.Join(of(all, final, "LABEL"), " "), "org.opencontainers.image."+label+`="`) {
			t.Errorf("it has no label %s", label)
		}
	}
}

// TestTheImagesStagesHaveWhatTheyNeed asks make what it would do with the files of each stage, and no others.
func TestTheImagesStagesHaveWhatTheyNeed(t *testing.T) {
	all, root := dockerfile(t), testkit.Root(t)
	plan := func(dir string, args ...string) string {
		t.Helper()
		return run(t, dir, "make", append([]string{"--dry-run"}, args...)...)
	}

	// As a clone has it: nothing is built.
	web := t.TempDir()
	pack := []string{"--exclude=node_modules", "--exclude=dist/index.html", "-cf", filepath.Join(web, "context.tar")}
	for _, copied := range of(all, "web", "COPY") {
		from, to, _ := strings.Cut(copied, " ")
		if to != from && to != "./" {
			t.Fatalf("COPY %s: not to the same place", copied)
		}
		pack = append(pack, from)
	}
	run(t, root, "tar", pack...)
	run(t, web, "tar", "-xf", "context.tar")
	pages := plan(web, "web")
	for _, step := range []string{"internal/web/ui ci", "internal/web/ui run --silent build", "internal/httpapi/docsui ci"} {
		if !strings.Contains(pages, step) {
			t.Errorf("make web would not do %q:\n%s", step, pages)
		}
	}
	manager := plan(root, "--assume-old=web", "bin/manager", "VERSION=v9", "COMMIT=abc")
	if strings.Contains(manager, "npm") || !strings.Contains(manager, "-X main.version=v9 -X main.commit=abc") {
		t.Errorf("without Node.js, make would do\n%s", manager)
	}
}

// run runs a program in a folder; make is none that another make has started.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	do := exec.CommandContext(t.Context(), name, args...)
	do.Dir = dir
	do.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	out, err := do.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
