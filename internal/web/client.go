// SPDX-License-Identifier: Apache-2.0

package web

import (
	"strconv"

	"github.com/mileusna/useragent"
)

// maxUserAgent bounds what is looked at, and maxClientName what comes out, in bytes.
const (
	maxUserAgent  = 512
	maxClientName = 64
)

// client tells a browser's system and name from its User-Agent, for the operator's listing. Versions of systems are
// left out: browsers stopped telling the true ones.
func client(userAgent string) (os, browser string) {
	ua := useragent.Parse(userAgent[:min(len(userAgent), maxUserAgent)])
	browser = ua.Name
	if browser != "" && ua.VersionNo.Major > 0 {
		browser += " " + strconv.Itoa(ua.VersionNo.Major)
	}
	return printable(ua.OS), printable(browser)
}

// printable keeps ASCII letters, digits and the like, which the names of all known browsers are made of.
func printable(s string) string {
	out := make([]byte, 0, maxClientName)
	for i := 0; i < len(s) && len(out) < maxClientName; i++ {
		if s[i] >= ' ' && s[i] <= '~' {
			out = append(out, s[i])
		}
	}
	return string(out)
}
