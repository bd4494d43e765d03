// SPDX-License-Identifier: Apache-2.0

package tenant

import "strings"

// claims are the hosts that Tenants have been given. A host belongs to a namespace with all that is under it: no other
// namespace gets a name inside a wildcard, a wildcard around a name, or another port of a name that is claimed on all ports.
type claims struct {
	// at are the claims of a name or a wildcard suffix, below are those of names and wildcards under a suffix. Without them
	// each claim would have to be compared with all others.
	at, below map[string][]claim
}

// claim is a host of a namespace. An empty port stands for all ports.
type claim struct{ namespace, port string }

func newClaims() claims { return claims{at: map[string][]claim{}, below: map[string][]claim{}} }

// add keeps that a Tenant has a host.
func (c claims) add(t *Tenant, host string) {
	name, port := cutWildcard(host)
	one := claim{t.Namespace, port}
	c.at[name] = append(c.at[name], one)
	for _, suffix := range suffixesOf(name) {
		c.below[suffix] = append(c.below[suffix], one)
	}
}

// belongToOthers reports whether another namespace has a host, a part of it, or a wildcard around it.
func (c claims) belongToOthers(t *Tenant, host string) bool {
	name, port := cutWildcard(host)
	overlaps := func(others []claim) bool {
		for _, other := range others {
			if other.namespace != t.Namespace && (other.port == port || other.port == "" || port == "") {
				return true
			}
		}
		return false
	}
	for _, suffix := range suffixesOf(name) {
		if overlaps(c.at[suffix]) {
			return true
		}
	}
	return overlaps(c.at[name]) || strings.HasPrefix(name, ".") && overlaps(c.below[name])
}

// cutWildcard takes the star and the port from a host. A name that begins with a dot is a wildcard's suffix.
func cutWildcard(host string) (name, port string) { return splitPort(strings.TrimPrefix(host, "*")) }

// suffixesOf are the suffixes of the wildcards that a name or a wildcard is under.
func suffixesOf(name string) (all []string) {
	for i := 1; i < len(name); i++ {
		if name[i] == '.' {
			all = append(all, name[i:])
		}
	}
	return all
}
