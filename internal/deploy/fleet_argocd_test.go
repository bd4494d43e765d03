// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

type (
	// application is an Application of Argo CD.
	application struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Project    string
			Source     appSource
			Sources    []appSource
			SyncPolicy struct{ Retry struct{ Limit int } }
		}
	}
	appSource struct {
		RepoURL, TargetRevision, Path string
		Helm                          struct {
			ReleaseName string
			ValueFiles  []string
		}
	}
	// project is an AppProject of Argo CD.
	project struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			SourceRepos                                          []string
			Destinations                                         []struct{ Namespace string }
			ClusterResourceWhitelist, NamespaceResourceWhitelist []struct{ Group, Kind string }
		}
	}
)

// TestArgoCDTakesTheSameFleet: Argo CD applies the folders that Flux does, and the chart with the same values; a tenant's project
// lets it apply what its folder holds, and nothing elsewhere.
func TestArgoCDTakesTheSameFleet(t *testing.T) {
	f := gitOps(t)
	read := f.files(t, "clusters", "argocd")
	var paths []string
	for _, o := range manifests.OfKind(read, "Application") {
		a := decode[application](t, o)
		// What needs a kind of another Application is tried again. Waves order nothing between Applications.
		if a.Spec.SyncPolicy.Retry.Limit >= 0 || len(a.Annotations) > 0 {
			t.Errorf("%s gives up, or trusts in waves", a.Name)
		}
		if a.Spec.Source.Path != "" {
			paths = append(paths, "./"+a.Spec.Source.Path)
		}
		for _, s := range a.Spec.Sources {
			if s.Path == "" {
				continue
			}
			if release := manifests.OfKind(f.steps["convene"].objects, "HelmRelease")[0].GetName(); s.Helm.ReleaseName != release || filepath.Join(testkit.Root(t), s.Path) != manifests.Chart(t) {
				t.Errorf("it installs %s as %s", s.Path, s.Helm.ReleaseName)
			}
			for _, file := range s.Helm.ValueFiles {
				inside, ok := strings.CutPrefix(file, "$fleet/")
				if _, err := os.Stat(filepath.Join(f.root, inside)); err != nil || !ok {
					t.Errorf("there are no values %s: %v", file, err)
				}
				paths = append(paths, "./"+filepath.Dir(inside))
			}
			if git, _, _ := unstructured.NestedString(manifests.Find(t, f.read, "GitRepository", "convene").Object, "spec", "ref", "tag"); s.TargetRevision != git {
				t.Errorf("Argo CD takes the chart of %s, Flux that of %s", s.TargetRevision, git)
			}
		}
		if a.Spec.Project != "default" {
			f.projectLets(t, decode[project](t, manifests.Find(t, read, "AppProject", a.Spec.Project)), a)
		}
	}
	var ofFlux []string
	for _, s := range f.steps {
		ofFlux = append(ofFlux, s.Spec.Path)
	}
	slices.Sort(paths)
	slices.Sort(ofFlux)
	if !slices.Equal(paths, ofFlux) {
		t.Errorf("Argo CD applies %q, Flux %q", paths, ofFlux)
	}
}

func (f *fleet) projectLets(t *testing.T, p project, a application) {
	t.Helper()
	if len(p.Spec.ClusterResourceWhitelist) > 0 || !slices.Contains(p.Spec.SourceRepos, a.Spec.Source.RepoURL) {
		t.Errorf("the project %s lets tenants write what is the cluster's, or does not take their repository", p.Name)
	}
	for _, o := range manifests.Parse(t, manifests.Build(t, filepath.Join(f.root, a.Spec.Source.Path))) {
		allowed := slices.Contains(p.Spec.NamespaceResourceWhitelist, struct{ Group, Kind string }{o.GroupVersionKind().Group, o.GetKind()})
		if !allowed || len(p.Spec.Destinations) != 1 || p.Spec.Destinations[0].Namespace != o.GetNamespace() {
			t.Errorf("the project %s does not let %s be applied, or lets more", p.Name, identity(o))
		}
	}
}
