// SPDX-License-Identifier: Apache-2.0

// Package hostname writes hosts in the one form in which they can be compared.
package hostname

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Of is the host of a URL, with its port where it has one, as browsers ask for it: in lower case, and in Punycode where it has
// letters beyond ASCII. An IPv6 address keeps its brackets. Of fails where browsers refuse the host.
func Of(u *url.URL) (string, error) {
	host := strings.ToLower(u.Host)
	if !strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return host, nil
	}
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host, err
}
