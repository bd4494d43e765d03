// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// hosts finds the Tenant that answers a host. It is never changed once it is made.
type hosts struct {
	exact    map[string]*Tenant // "host" or "host:port"
	wildcard map[string]*Tenant // ".suffix" or ".suffix:port"
	fallback *Tenant
	// refuseUnknown keeps names that no Tenant asks for from the fallback.
	refuseUnknown bool
	// claims are the hosts that have been given away.
	claims claims
	// conflicts are the hosts that a Tenant asks for and an older one has, or its namespace.
	conflicts map[types.NamespacedName][]string
}

// newHosts gives each host to the oldest Tenant that asks for it, unless an older Tenant of another namespace has a wildcard around
// it or a name under it. Every other host goes to the default Tenant, else to the only one. With refuseUnknown, names that others
// can give to this address go to none.
func newHosts(tenants []*Tenant, byDefault types.NamespacedName, refuseUnknown bool) *hosts {
	h := &hosts{
		refuseUnknown: refuseUnknown, exact: map[string]*Tenant{}, wildcard: map[string]*Tenant{},
		claims: newClaims(), conflicts: map[types.NamespacedName][]string{},
	}
	tenants = slices.Clone(tenants)
	slices.SortFunc(tenants, func(a, b *Tenant) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.UID, b.UID)) })
	for _, t := range tenants {
		for _, host := range t.Hosts {
			h.claim(t, host)
		}
		if t.NamespacedName == byDefault {
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
	if h.refuseUnknown && isForeign(host) {
		return nil
	}
	return h.fallback
}

// isForeign reports whether a host is a name that others can give to this address, so that a page from there takes us for its
// own server (DNS rebinding). Addresses, names without a domain, and those of Services inside the cluster are not.
func isForeign(host string) bool {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || !strings.Contains(host, ".") {
		return false
	}
	labels := strings.Split(host, ".")
	return labels[len(labels)-1] != "localhost" && labels[len(labels)-1] != "svc" && !strings.HasSuffix(host, ".svc.cluster.local")
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
