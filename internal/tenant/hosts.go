// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// UnknownHosts is what is done with hosts that no ConferenceConfig asks for.
type UnknownHosts struct {
	// Default is the ConferenceConfig that answers for them; empty means the only one.
	Default types.NamespacedName
	// Refuse keeps names from it that others can give to this address. Names of this Cluster's Services are none of these.
	Refuse  bool
	Cluster Cluster
}

// hosts finds the Tenant that answers a host. It is never changed once it is made.
type hosts struct {
	exact    map[string]*Tenant // "host" or "host:port"
	wildcard map[string]*Tenant // ".suffix" or ".suffix:port"
	fallback *Tenant
	// unknown is what is done with names that no Tenant asks for.
	unknown UnknownHosts
	// claims are the hosts that have been given away.
	claims claims
	// conflicts are the hosts that a Tenant asks for and an older one has, or its namespace.
	conflicts map[types.NamespacedName][]string
}

// newHosts gives each host to the oldest Tenant that asks for it, unless an older Tenant of another namespace has a wildcard around
// it or a name under it. Every other host goes to the default Tenant, else to the only one, unless it is refused.
func newHosts(tenants []*Tenant, unknown UnknownHosts) *hosts {
	h := &hosts{
		unknown: unknown, exact: map[string]*Tenant{}, wildcard: map[string]*Tenant{},
		claims: newClaims(), conflicts: map[types.NamespacedName][]string{},
	}
	tenants = slices.Clone(tenants)
	slices.SortFunc(tenants, func(a, b *Tenant) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.UID, b.UID)) })
	for _, t := range tenants {
		for _, host := range t.Hosts {
			h.claim(t, host)
		}
		if t.NamespacedName == unknown.Default {
			h.fallback = t
		}
	}
	if h.fallback == nil && len(tenants) == 1 {
		h.fallback = tenants[0]
	}
	return h
}

func (h *hosts) claim(t *Tenant, host string) {
	table, key := h.exact, host
	if suffix, ok := strings.CutPrefix(host, "*"); ok {
		table, key = h.wildcard, suffix
	}
	if owner := table[key]; owner == t {
		return
	} else if owner != nil || h.claims.belongToOthers(t, host) {
		h.conflicts[t.NamespacedName] = append(h.conflicts[t.NamespacedName], host)
		return
	}
	table[key] = t
	h.claims.add(t, host)
}

// find prefers exact to wildcard, the longer wildcard to the shorter, and each with its port to it without.
func (h *hosts) find(hostport string) *Tenant {
	host, port := splitPort(strings.ToLower(hostport))
	ports := []string{":" + port, ""}
	if port == "" {
		ports = []string{"", ":443", ":80"} // Browsers leave these out.
	}
	if t := lookupHost(h.exact, host, ports); t != nil {
		return t
	}
	for i := 1; i < len(host) && len(h.wildcard) > 0; i++ {
		if host[i] != '.' {
			continue
		}
		if t := lookupHost(h.wildcard, host[i:], ports); t != nil {
			return t
		}
	}
	if h.unknown.Refuse && h.unknown.Cluster.isForeign(host) {
		return nil
	}
	return h.fallback
}

func lookupHost(table map[string]*Tenant, host string, ports []string) *Tenant {
	for _, port := range ports {
		if t := table[host+port]; t != nil {
			return t
		}
	}
	return nil
}

// splitPort takes the port off a host; an IPv6 address keeps its brackets.
func splitPort(hostport string) (host, port string) {
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		if strings.Contains(h, ":") {
			h = "[" + h + "]"
		}
		return strings.TrimSuffix(h, "."), p
	}
	return strings.TrimSuffix(hostport, "."), ""
}
