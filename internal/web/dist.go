// SPDX-License-Identifier: Apache-2.0

package web

import "embed"

// embedded is the room page as `make web` builds it from ui/. Before the first build it holds a .gitignore alone, so
// that the package compiles.
//
//go:embed all:dist
var embedded embed.FS
