// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"slices"
	"strings"
)

// archive is a release as its project publishes it: a .tar.gz for each platform.
type archive struct {
	of, version string
	// path is where it is on the server; {version}, {number} (without the v) and {platform} are filled in.
	path string
	// separator stands between the operating system and the architecture in the name of the file.
	separator string
	// folder is where the binaries are in the archive.
	folder   string
	binaries []string
	// sums are checksums in hexadecimal by platform: SHA-256 or SHA-512, as the project publishes them.
	sums map[string]string
}

// published are the releases that are used in place of a build. TestPublishedFitsWhatIsBuilt holds the versions to those of
// hack/tools: LiveKit exactly, Kubernetes to its minor release, for which not every patch is published.
var published = []archive{
	{
		// Checksums: envtest-releases.yaml of kubernetes-sigs/controller-tools.
		of: "etcd, kube-apiserver and kubectl", version: "v1.37.0", separator: "-",
		path:     "/kubernetes-sigs/controller-tools/releases/download/envtest-{version}/envtest-{version}-{platform}.tar.gz",
		folder:   "controller-tools/envtest/",
		binaries: []string{"etcd", "kube-apiserver", "kubectl"},
		sums: map[string]string{
			"linux-amd64":  "1d1c453633b72c161a5d5a886cde7ac850be1a2ac796a9e1d4ffacacc64868295bdd2d57aa66cd0c158f5ce510f5dfe3fbc61ac21bd3dcfb875bd70658aa663a",
			"linux-arm64":  "ae6a670502988200b0131c943758cfd3d3a58cf4e6247ef7f0e6a6467f1cd9a333c802e86101f0446b1b92a0e327387224e1e44fe1a4693da0929c6e529cfe9a",
			"darwin-amd64": "19a2a5376a8aa57a7b25ec5198834db29bf2ba0d6ff572d7f45ba683b13fb14c3ebec8069e92db66c39f1c7a9cff1bc2be879e2aacdc9fa8b8a7e861959bdf7b",
			"darwin-arm64": "fb38cfacdd71b5e97a4d4cceac861af5f55069cf783f0e49cf181bfc32eb3e557c2091a534dc5d38f1b92c5ba142bc1979f215a5385b3630ea6a661be6fa161b",
		},
	},
	{
		// Checksums: checksums.txt of the release. There are none for macOS.
		of: "LiveKit", version: "v1.13.4", separator: "_",
		path:     "/livekit/livekit/releases/download/{version}/livekit_{number}_{platform}.tar.gz",
		binaries: []string{"livekit-server"},
		sums: map[string]string{
			"linux_amd64": "549bcbe07a92685e45dfd98d8e7cbafd0e1c91d3502fd417079162e1a3f18d17",
			"linux_arm64": "691d34c0d0095a3d5c6dfb9d7e9353a0600a3423d498136037001626d281ad64",
		},
	},
}

// find returns the archive that has a tool, and its checksum for this machine, empty when there is none.
func find(known []archive, name string) (a *archive, sum string) {
	i := slices.IndexFunc(known, func(a archive) bool { return slices.Contains(a.binaries, name) })
	if i < 0 {
		return nil, ""
	}
	return &known[i], known[i].sums[known[i].platform()]
}

func (a archive) platform() string { return runtime.GOOS + a.separator + runtime.GOARCH }

func (a archive) url(from string) string {
	return strings.TrimSuffix(from, "/") + strings.NewReplacer(
		"{version}", a.version, "{number}", strings.TrimPrefix(a.version, "v"), "{platform}", a.platform()).Replace(a.path)
}
