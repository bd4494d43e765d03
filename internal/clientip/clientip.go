// SPDX-License-Identifier: Apache-2.0

// Package clientip finds out which address a request comes from, as far as that can be believed.
package clientip

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the addresses whose X-Forwarded-For is believed. None are by default: then the header counts for nothing.
type Proxies []netip.Prefix

// Of is the address that limits count a request by: the last one on its way that is not a trusted proxy's, because those
// before it are only claimed. Of IPv6 it is the /64, which one customer has all of (RFC 6177).
func (p Proxies) Of(r *http.Request) netip.Addr {
	from, _ := parse(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !p.Trust(from) {
			break
		}
		next, ok := parse(hop)
		if !ok {
			break
		}
		from = next
	}
	if from.Is6() {
		network, _ := from.Prefix(64) // It fails on addresses of IPv4 only.
		return network.Addr()
	}
	return from
}

// Site is the network that one site has, and so can take addresses of at will: the /48 of an IPv6 address (RFC 6177), the
// address alone of an IPv4 one.
func Site(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 48
	}
	site, _ := addr.Prefix(bits) // It fails on the zero address, whose site is as empty.
	return site
}

// Trust reports whether an address is a trusted proxy's.
func (p Proxies) Trust(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// parse reads an address with or without a port, as servers and proxies write both.
func parse(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}
