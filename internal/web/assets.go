// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"io/fs"
	"net/http"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

func loadAssets(dist fs.FS, folder string) (httpserver.Assets, error) {
	assets, err := httpserver.LoadAssets(dist, folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("web: the room page's scripts are not built into this binary: run `make web` and build again")
	}
	return assets, err
}

// assetHeader is of files whose names hold a hash of their content, so that they never change.
var assetHeader = http.Header{"Cache-Control": {"public, max-age=31536000, immutable"}}

func (h *handler) serveAsset(q *httpserver.Request) (httpserver.Answer, error) {
	answer, ok, err := h.assets.Answer(q, q.HTTP.PathValue("file"), assetHeader)
	if !ok {
		return plainPage(http.StatusNotFound, "There is no such file; load the page again"), nil
	}
	return answer, err
}

var errNoSuchPage = fault.NotFound("There is no such page; check the link")
