// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"convene.dev/convene/internal/testkit"
)

// chartVersions are what the chart says.
func chartVersions(t *testing.T) (chartVersion, appVersion string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.Root(t), "config", "chart", "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, into := range map[string]*string{"version": &chartVersion, "appVersion": &appVersion} {
		found := regexp.MustCompile(`(?m)^` + name + `: (\S+)$`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("the chart has no %s", name)
		}
		*into = string(found[1])
	}
	return chartVersion, appVersion
}

var (
	// Where a version of Convene is written: a tag of its image or of its repository, and what Helm calls the chart's.
	imageTags    = regexp.MustCompile(`(?m)\bconvene:([\w.-]+)|image\.tag=(\S+)|newTag: (\S+)|targetRevision: (v?\d\S*)|^\s+tag: (v?0\.\S+)|[?]ref=(v?\d[\w.-]*)`)
	chartsOfHelm = regexp.MustCompile(`--version[ =](\S+)|convene-(v?\d[\w.-]*)\.tgz`)
)

// isLater tells that a version is written like another one and comes after it: what documents update to.
func isLater(got, than string) bool {
	a, err := version.ParseSemantic(got)
	return err == nil && strings.HasPrefix(got, "v") == strings.HasPrefix(than, "v") && version.MustParseSemantic(than).LessThan(a)
}

// TestTheVersionIsWrittenInOneWay: v1.2.3 as tag of the repository, tag of the image and appVersion; 1.2.3 for the chart
// itself, because that is how Helm writes versions.
func TestTheVersionIsWrittenInOneWay(t *testing.T) {
	chart, app := chartVersions(t)
	if app != "v"+chart {
		t.Fatalf("the chart %s is of %s: write v%s", chart, app, chart)
	}
	pages := testkit.Documents(t)
	eachFile(t, func(path, content string) {
		if filepath.Ext(path) == ".yaml" && !strings.Contains(path, "config/chart/") {
			pages[path] = content
		}
	}, "config")
	found := 0
	for name, page := range pages {
		for want, pattern := range map[string]*regexp.Regexp{app: imageTags, chart: chartsOfHelm} {
			for _, match := range pattern.FindAllStringSubmatch(page, -1) {
				got := strings.Join(match[1:], "")
				// The image that developers build.
				if got == "latest" {
					continue
				}
				found++
				if got != want && !isLater(got, want) {
					t.Errorf("%s has %q: write %s", name, strings.TrimSpace(match[0]), want)
				}
			}
		}
	}
	if found < 6 {
		t.Errorf("only %d versions were found", found)
	}
	log, err := os.ReadFile(filepath.Join(testkit.Root(t), "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(log)
	if newest == nil || string(newest[1]) != app {
		t.Errorf("CHANGELOG.md begins with %q, and the chart is of %s", newest, app)
	}
}

// TestTheSupportMatrixIsTrue: what docs/support.md promises is what the tests run on, and what the chart asks for.
func TestTheSupportMatrixIsTrue(t *testing.T) {
	_, app := chartVersions(t)
	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(app) + ` \| (1\.\d+) to (1\.\d+) \| (1\.\d+) \|`).FindStringSubmatch(testkit.Documents(t)["docs/support.md"])
	if row == nil {
		t.Fatalf("docs/support.md has no row for %s", app)
	}
	oldest, newest, livekit := row[1], row[2], row[3]
	for _, tc := range []struct{ file, pattern, want string }{
		{"hack/tools/oldest-kubernetes/go.mod", `k8s\.io/kubernetes v(1\.\d+)\.`, oldest},
		{"config/chart/Chart.yaml", `(?m)^kubeVersion: ">=(1\.\d+)\.0-0"`, oldest},
		{"docs/install.md", `Kubernetes (1\.\d+) or newer`, oldest},
		{"hack/tools/kubernetes/go.mod", `k8s\.io/kubernetes v(1\.\d+)\.`, newest},
		{"hack/tools/livekit/go.mod", `github\.com/livekit/livekit-server v(1\.\d+)\.`, livekit},
		{"config/chart/values.yaml", `tag: v(1\.\d+)\.`, livekit},
	} {
		text, err := os.ReadFile(filepath.Join(testkit.Root(t), tc.file))
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(tc.pattern).FindStringSubmatch(string(text)); found == nil || found[1] != tc.want {
			t.Errorf("%s has %q, and docs/support.md has %s", tc.file, found, tc.want)
		}
	}
}
