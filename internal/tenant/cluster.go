// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"bufio"
	"bytes"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// defaultDomain is the domain of most clusters. It is reserved, so that nobody can own it.
const defaultDomain = "cluster.local"

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

// isForeign reports whether a host is a name that others can give to this address, so that a page from there takes us for its
// own server (DNS rebinding). Addresses, names without a domain, and the names of Services inside the cluster are not.
func (c Cluster) isForeign(host string) bool {
	labels := strings.Split(host, ".")
	switch last := labels[len(labels)-1]; {
	case isLocal(host), last == "svc", strings.HasSuffix(host, ".svc."+defaultDomain):
		return false
	case c.Domain != "" && strings.HasSuffix(host, ".svc."+c.Domain):
		return false
	case c.Namespace != "" && len(labels) == 2 && last == c.Namespace:
		// A namespace may have the name of a domain in which anybody can have a name, for example video.
		_, registered := publicsuffix.PublicSuffix(host)
		return registered
	}
	return true
}
