// SPDX-License-Identifier: Apache-2.0

package tenant

import "strings"

// claims are the hosts that Tenants have been given. A host belongs to a namespace with all that is under it: no other
// namespace gets a name inside a wildcard, a wildcard around a name, or another port of a name that is claimed on all ports.
type claims struct {
	// at are the owners of names and wildcards. below are those of what is under a wildcard, for the wildcards that somebody asks for and no
	// others: a name is under a hundred.
	at, below owners
}

// place is a name, or the suffix of a wildcard, with a port. An empty port stands for all ports.
type place struct{ name, port string }

// owners are the namespaces that have places.
type owners map[place]string

const (
	// onePort in a place stands for at least one port.
	onePort = "*"
	// nobody and several are no namespaces.
	nobody, several = "", "*"
)

// newClaims makes claims for Tenants who ask for such hosts.
func newClaims(tenants []*Tenant) claims {
	c := claims{at: owners{}, below: owners{}}
	for _, t := range tenants {
		for _, host := range t.Hosts {
			if name, port := cutWildcard(host); isWildcard(name) {
				for _, port := range []string{port, "", onePort} {
					c.below[place{name, port}] = nobody
				}
			}
		}
	}
	return c
}

// add keeps that a Tenant has a host.
func (c claims) add(t *Tenant, host string) {
	name, port := cutWildcard(host)
	for _, port := range []string{port, onePort} {
		c.at.add(place{name, port}, t.Namespace)
		for suffix := range suffixesOf(name) {
			if p := (place{suffix, port}); c.below.has(p) {
				c.below.add(p, t.Namespace)
			}
		}
	}
}

// otherOwner returns the other namespace that has a host, a part of it, or a wildcard around it: nobody, or several.
func (c claims) otherOwner(t *Tenant, host string) string {
	name, port := cutWildcard(host)
	for suffix := range suffixesOf(name) {
		if owner := c.at.other(suffix, port, t.Namespace); owner != nobody {
			return owner
		}
	}
	owner := c.at.other(name, port, t.Namespace)
	if owner == nobody && isWildcard(name) {
		owner = c.below.other(name, port, t.Namespace)
	}
	return owner
}

func (o owners) has(p place) bool {
	_, ok := o[p]
	return ok
}

func (o owners) add(p place, namespace string) {
	if owner := o[p]; owner != nobody && owner != namespace {
		namespace = several
	}
	o[p] = namespace
}

// other returns the other namespace that has a name on that port, or where the port is empty on any port.
func (o owners) other(name, port, namespace string) string {
	ports := []string{port, ""}
	if port == "" {
		ports = []string{onePort}
	}
	for _, port := range ports {
		if owner := o[place{name, port}]; owner != nobody && owner != namespace {
			return owner
		}
	}
	return nobody
}

// cutWildcard takes the star and the port from a host. A name that begins with a dot is a wildcard's suffix.
func cutWildcard(host string) (name, port string) { return splitPort(strings.TrimPrefix(host, "*")) }

func isWildcard(name string) bool { return strings.HasPrefix(name, ".") }

// suffixesOf are the suffixes of the wildcards that a name or a wildcard is under.
func suffixesOf(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := 1; i < len(name); i++ {
			if name[i] == '.' && !yield(name[i:]) {
				return
			}
		}
	}
}
