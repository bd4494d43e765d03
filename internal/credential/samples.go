// SPDX-License-Identifier: Apache-2.0

package credential

import "strings"

// sampleKeys are the values that documentation and sample files of conferencing services print where the secret goes,
// in the form that plain gives them.
var sampleKeys = map[string]bool{
	"apikeysecret":     true,
	"apikeysecrethere": true,
	"changeit":         true,
	"changeme":         true,
	"changethis":       true,
	"replaceme":        true,
	"yourapikey":       true,
	"yourapikeyhere":   true,
	"yourapikeysecret": true,
	"yourapisecret":    true,
	"yourkey":          true,
	"yoursecret":       true,
	"yoursecrethere":   true,
	"yoursecretkey":    true,
}

// isSample reports whether a key is a placeholder: one of the known ones however it is written, a service's
// "…_default_secret", something in <angle brackets>, or a ${VARIABLE} that was not filled in.
func isSample(key string) bool {
	p := plain(key)
	return sampleKeys[p] ||
		strings.HasSuffix(p, "defaultsecret") ||
		strings.HasPrefix(key, "<") && strings.HasSuffix(key, ">") ||
		strings.HasPrefix(key, "${") && strings.HasSuffix(key, "}")
}

// IsPublished reports whether a secret that signs tokens is a placeholder, or a service's "…_jwt_secret".
func IsPublished(key string) bool { return isSample(key) || strings.HasSuffix(plain(key), "jwtsecret") }

// plain keeps a key's letters and digits, in lower case.
func plain(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		case r == '_' || r == '-' || r == ' ' || r == '.':
			return -1
		}
		return r
	}, key)
}
