// SPDX-License-Identifier: Apache-2.0

// Package hostname writes hosts and origins in the one form in which they can be compared.
package hostname

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// defaultPorts are the ports that browsers leave out, by scheme.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// Of is the host of a URL, with its port unless that is the default port of the scheme, as browsers ask for it: in lower case, in
// Punycode where it has letters beyond ASCII, and without the dot that may end a full name. An IPv6 address keeps its brackets. Of
// fails where browsers refuse the host.
func Of(u *url.URL) (string, error) {
	name, err := nameOf(u)
	if port := u.Port(); port != "" && port != defaultPorts[u.Scheme] {
		name += ":" + port
	}
	return name, err
}

func nameOf(u *url.URL) (string, error) {
	name := strings.ToLower(strings.TrimRight(u.Hostname(), "."))
	switch {
	case strings.Contains(name, ":"):
		return "[" + name + "]", nil
	case !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }):
		return name, nil
	}
	name, err := idna.Lookup.ToASCII(name)
	return strings.TrimRight(name, "."), err
}

// Origin is an origin as browsers send it: a scheme, and a host as Of writes it, which may begin with *. for all hosts below it. It
// is empty for a text that is no origin.
func Origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	host, err := Of(u)
	if err != nil || host == "" {
		return ""
	}
	return u.Scheme + "://" + host
}

// IsOn reports whether a URL leads to one of some hosts, each on any port or with one; *.example.com stands for all hosts below
// example.com.
func IsOn(hosts []string, u *url.URL) bool {
	name, err := nameOf(u)
	if err != nil {
		return false
	}
	hostport := name + ":" + cmp.Or(u.Port(), defaultPorts[u.Scheme])
	return slices.ContainsFunc(hosts, func(allowed string) bool {
		allowed = strings.ToLower(allowed)
		return Matches(allowed, name) || Matches(allowed, hostport)
	})
}

// Matches reports whether a host or an origin, in its normal form, is the one of a pattern in that form. A * in the pattern stands for
// any text that is not empty.
func Matches(pattern, text string) bool {
	before, after, wildcard := strings.Cut(pattern, "*")
	if !wildcard {
		return pattern == text
	}
	return strings.HasPrefix(text, before) && strings.HasSuffix(text, after) && len(text) > len(before)+len(after)
}
