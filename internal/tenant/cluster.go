// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"bufio"
	"bytes"
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// defaultDomain is the domain of most clusters, and setDomain the domain of Services of several clusters (KEP-1645). Neither can be registered:
// local is reserved.
const defaultDomain, setDomain = "cluster.local", "clusterset.local"

// Cluster is where this manager runs, as far as the names of Services tell.
type Cluster struct {
	// Domain ends the names of all Services: <service>.<namespace>.svc.<domain>.
	Domain string
	// Namespace is the manager's own, and its Service's.
	Namespace string
}

// ParseResolvConf reads a pod's resolv.conf(5), in which the kubelet lists <namespace>.svc.<domain> to be searched. It is empty
// outside of a cluster.
func ParseResolvConf(data []byte) (c Cluster) {
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		words := strings.Fields(strings.ToLower(lines.Text()))
		if len(words) == 0 || words[0] != "search" {
			continue
		}
		c = Cluster{} // The last line counts.
		for _, name := range words[1:] {
			namespace, domain, ok := strings.Cut(strings.TrimSuffix(name, "."), ".svc.")
			if ok && !strings.Contains(namespace, ".") {
				c = Cluster{Domain: domain, Namespace: namespace}
				break
			}
		}
	}
	return c
}

// Of is the cluster with the namespace of the pod's service account, if there is one: with dnsPolicy Default, or None, resolv.conf names no
// namespace.
func (c Cluster) Of(namespace string) Cluster {
	c.Namespace = cmp.Or(strings.TrimSpace(namespace), c.Namespace)
	return c
}

// isForeign reports whether a host is a name that others can give to this address, so that a page from there takes us for its
// own server (DNS rebinding). Addresses, names without a domain, and the names of Services and pods inside the cluster are not.
func (c Cluster) isForeign(host string) bool {
	labels := strings.Split(host, ".")
	within := func(domain string) bool { return strings.HasSuffix(host, "."+domain) }
	switch last := labels[len(labels)-1]; {
	case isLocal(host), slices.ContainsFunc(c.serviceDomains(), within):
		return false
	case within("pod." + defaultDomain), c.Domain != "" && within("pod."+c.Domain):
		return false
	case c.Namespace != "" && len(labels) == 2 && last == c.Namespace:
		// A namespace may have the name of a domain in which anybody can have a name, for example video.
		_, registered := publicsuffix.PublicSuffix(host)
		return registered
	}
	return true
}
