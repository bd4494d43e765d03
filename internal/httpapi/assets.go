// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"embed"
	"io/fs"
	"maps"
	"slices"

	"convene.dev/convene/internal/httpserver"
)

//go:embed docsui/page.html docsui/page.js docsui/page.css
var pageFiles embed.FS

// distFiles is empty but for .gitignore until npm run build has filled it. Its files are compressed: all that is in the binary
// of them.
//
//go:embed all:docsui/dist
var distFiles embed.FS

// assets are what docs/assets/{file} serves.
var assets = []string{"page.css", "page.js", "swagger-ui.css", "swagger-ui-bundle.js"}

func loadAssets() httpserver.Assets {
	all := httpserver.Assets{}
	for files, folder := range map[fs.FS]string{pageFiles: "docsui", distFiles: "docsui/dist"} {
		loaded, err := httpserver.LoadAssets(files, folder)
		if err != nil {
			panic(err) // They are in this binary.
		}
		maps.Copy(all, loaded)
	}
	maps.DeleteFunc(all, func(name string, _ *httpserver.Asset) bool { return !slices.Contains(assets, name) })
	return all
}

// built reports whether the page's library is in the binary.
func built() bool {
	_, err := distFiles.Open("docsui/dist/swagger-ui-bundle.js.gz")
	return err == nil
}
