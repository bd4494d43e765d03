// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
)

// UnknownHosts is what is done with hosts that no ConferenceConfig asks for.
type UnknownHosts struct {
	// Default is the ConferenceConfig that answers for them; empty means the only one.
	Default types.NamespacedName
	// Refuse keeps names from it that others can give to this address. Names of this Cluster's Services are none of these.
	Refuse bool
	// Cluster tells which names are those of Services.
	Cluster Cluster
}

// hosts finds the Tenant that answers a host. It is never changed once it is made.
type hosts struct {
	given hostTable
	// denied are the hosts that a Tenant asks for and does not have.
	denied   hostTable
	fallback *Tenant
	// unknown is what is done with names that no Tenant asks for.
	unknown UnknownHosts
	// claims are the hosts that have been given away.
	claims claims
	// oldest is the namespace of the oldest Tenant, where no default is chosen.
	oldest string
	// conflicts are the hosts that a Tenant asks for and another one has, each with its owner, as the status names them; reserved are
	// those that the Tenant's namespace is not allowed.
	conflicts, reserved map[types.NamespacedName][]string
}

// newHosts gives each host to the oldest Tenant that asks for it and may have it, unless an older Tenant of another namespace has a
// wildcard around it or a name under it. Every other host goes to the default Tenant, else to the only one, unless it is refused.
func newHosts(tenants []*Tenant, unknown UnknownHosts) *hosts {
	h := &hosts{
		unknown: unknown, given: newHostTable(), denied: newHostTable(),
		claims: newClaims(tenants), conflicts: map[types.NamespacedName][]string{}, reserved: map[types.NamespacedName][]string{},
	}
	tenants = slices.Clone(tenants)
	slices.SortFunc(tenants, func(a, b *Tenant) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.UID, b.UID)) })
	if unknown.Default.Name == "" && len(tenants) > 0 {
		h.oldest = tenants[0].Namespace
	}
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
	table, key := h.given.of(host)
	switch owner := table[key]; {
	case owner == t:
	case !h.mayClaim(t, host):
		h.reserved[t.NamespacedName] = append(h.reserved[t.NamespacedName], host)
	case owner != nil:
		h.conflict(t, "%s with ConferenceConfig %s", host, owner.NamespacedName)
	default:
		switch other := h.claims.otherOwner(t, host); other {
		case nobody:
			table[key] = t
			h.claims.add(t, host)
		case several:
			h.conflict(t, "%s with hosts of several namespaces", host)
		default:
			h.conflict(t, "%s with a host of namespace %s", host, other)
		}
	}
	if table[key] != t {
		denied, key := h.denied.of(host)
		denied[key] = t
	}
}

// conflict notes a host that another Tenant has.
func (h *hosts) conflict(t *Tenant, format string, args ...any) {
	h.conflicts[t.NamespacedName] = append(h.conflicts[t.NamespacedName], fmt.Sprintf(format, args...))
}

// mayClaim reports whether a Tenant's namespace may have a host. A reserved one is for the namespaces of the manager and of the
// default Tenant, and for those whose annotation lists it. A first installation is tried at a local one: the oldest Tenant's
// namespace may have it too.
func (h *hosts) mayClaim(t *Tenant, host string) bool {
	name, _ := splitPort(host)
	switch {
	case !h.unknown.Cluster.isReserved(host, t.Namespace), t.Namespace == h.unknown.Cluster.Namespace, t.Namespace == h.unknown.Default.Namespace:
		return true
	case isLocal(name) && t.Namespace == h.oldest:
		return true
	}
	return slices.ContainsFunc(t.allowedHosts, func(entry string) bool { return allows(entry, host) })
}

// problems are why a Tenant does not answer all hosts that it asks for.
func (h *hosts) problems(name types.NamespacedName) (problems []Problem) {
	problem := func(reason, format string, args ...any) {
		problems = append(problems, Problem{
			Condition: v1alpha1.ConditionHostConflict, Reason: reason, Message: fmt.Sprintf(format, args...), WhenTrue: true, Fatal: true,
		})
	}
	if hosts := h.conflicts[name]; len(hosts) > 0 {
		problem(v1alpha1.ReasonOlderConfig, "Hosts conflict with those of older ConferenceConfigs: %s; take each host from one of the two", strings.Join(hosts, ", "))
	}
	if hosts := h.reserved[name]; len(hosts) > 0 {
		problem(v1alpha1.ReasonNotAllowed, "Namespace %q may not claim %s, which no namespace owns; choose other hosts in spec.hostnames "+
			"(without any, the host of spec.baseURL counts), or ask who administers the cluster to list these in the annotation %s of the Namespace",
			name.Namespace, strings.Join(hosts, ", "), annotationAllowedHosts)
	}
	return problems
}

// sameProblems reports whether problems are those of other hosts.
func (h *hosts) sameProblems(other *hosts, name types.NamespacedName) bool {
	return slices.Equal(h.conflicts[name], other.conflicts[name]) && slices.Equal(h.reserved[name], other.reserved[name])
}

// maxHost is the longest name of a host, in bytes (RFC 1035, section 2.3.4): of each name all its suffixes are looked up.
const maxHost = 253

// find returns the Tenant that answers a host, and whether another Tenant asks for the host and does not have it. A text that is too long
// for a host is none.
func (h *hosts) find(hostport string) (t *Tenant, denied bool) {
	host, port := splitPort(strings.ToLower(hostport))
	if len(host) > maxHost {
		return nil, false
	}
	ports := []string{":" + port, ""}
	if port == "" {
		ports = []string{"", ":443", ":80"} // Browsers leave these out.
	}
	if t := h.given.find(host, ports); t != nil {
		return t, false
	}
	if h.unknown.Refuse && h.unknown.Cluster.isForeign(host) {
		return nil, false
	}
	asks := h.denied.find(host, ports)
	return h.fallback, asks != nil && asks != h.fallback
}

// hostTable has Tenants by host.
type hostTable struct {
	exact    map[string]*Tenant // "host" or "host:port"
	wildcard map[string]*Tenant // ".suffix" or ".suffix:port"
}

func newHostTable() hostTable { return hostTable{map[string]*Tenant{}, map[string]*Tenant{}} }

// of returns the map in which a host is, and its key there.
func (a hostTable) of(host string) (table map[string]*Tenant, key string) {
	if suffix, ok := strings.CutPrefix(host, "*"); ok {
		return a.wildcard, suffix
	}
	return a.exact, host
}

// find prefers exact to wildcard, the longer wildcard to the shorter, and each with its port to it without.
func (a hostTable) find(host string, ports []string) *Tenant {
	if t := lookupHost(a.exact, host, ports); t != nil {
		return t
	}
	for i := 1; i < len(host) && len(a.wildcard) > 0; i++ {
		if host[i] != '.' {
			continue
		}
		if t := lookupHost(a.wildcard, host[i:], ports); t != nil {
			return t
		}
	}
	return nil
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
