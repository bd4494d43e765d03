// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// annotationAllowedHosts lists the hosts that the ConferenceConfigs of a Namespace may claim, separated by commas.
const annotationAllowedHosts = "convene.dev/allowed-hosts"

// isReserved reports whether no namespace owns a host: an address, a loopback name, a name without a domain, the name of another
// namespace's Service, or a wildcard around such names or around a domain in which the public registers names.
func (c Cluster) isReserved(host, namespace string) bool {
	name, _ := cutWildcard(host)
	suffix, wildcard := strings.CutPrefix(name, ".")
	switch {
	case c.isServiceOf(suffix, namespace):
		return false
	case !c.isForeign(suffix):
		return true
	case !wildcard:
		return false
	}
	public, registered := publicsuffix.PublicSuffix(suffix)
	return public == suffix && registered || c.isAroundServices(suffix)
}

// isLocal reports whether the name of a host is an address, a loopback name or a name without a domain.
func isLocal(name string) bool {
	if strings.HasPrefix(name, "[") || !strings.Contains(name, ".") {
		return true
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64) // Browsers take such a name for an IPv4 address.
	return err == nil || last == "localhost"
}

// isServiceOf reports whether all that a name stands for are Services of a namespace.
func (c Cluster) isServiceOf(name, namespace string) bool {
	for _, domain := range c.serviceDomains() {
		if within, ok := strings.CutSuffix(name, "."+domain); ok {
			return within == namespace || strings.HasSuffix(within, "."+namespace)
		}
	}
	return false
}

// isAroundServices reports whether the names of Services are under a suffix.
func (c Cluster) isAroundServices(suffix string) bool {
	for _, domain := range c.serviceDomains() {
		if domain == suffix || strings.HasSuffix(domain, "."+suffix) {
			return true
		}
	}
	return false
}

// serviceDomains are the endings of the names of all Services.
func (c Cluster) serviceDomains() []string {
	domains := []string{"svc", "svc." + defaultDomain, "svc." + setDomain}
	if c.Domain != "" && c.Domain != defaultDomain {
		domains = append(domains, "svc."+c.Domain)
	}
	return domains
}

// allowedHosts are the entries of a Namespace's annotation.
func allowedHosts(namespace metav1.Object) (entries []string) {
	for entry := range strings.SplitSeq(strings.ToLower(namespace.GetAnnotations()[annotationAllowedHosts]), ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// allows reports whether an entry allows a host, as the ValidatingAdmissionPolicy for allowed hosts works it out: one with a port
// allows that port, one without allows all.
func allows(entry, host string) bool {
	if entry == "*" || entry == host || strings.HasPrefix(host, entry+":") {
		return true
	}
	suffix, wildcard := strings.CutPrefix(entry, "*")
	name, _ := splitPort(host)
	return wildcard && strings.HasPrefix(suffix, ".") && (strings.HasSuffix(host, suffix) || strings.HasSuffix(name, suffix))
}
