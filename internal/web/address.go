// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// address is where a request comes from, as limits count it: for IPv6 the network that one customer has, RFC 6177.
// Behind trusted proxies it is the last address in X-Forwarded-For that is not theirs: those before it are only
// claimed.
func (h *handler) address(r *http.Request) netip.Addr {
	from := parseAddress(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !h.trusts(from) {
			break
		}
		next := parseAddress(strings.TrimSpace(hop))
		if !next.IsValid() {
			break
		}
		from = next
	}
	if from.Is6() {
		network, _ := from.Prefix(64) // It fails on invalid addresses only.
		return network.Addr()
	}
	return from
}

func (h *handler) trusts(from netip.Addr) bool {
	return slices.ContainsFunc(h.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(from) })
}

// parseAddress reads an address with or without a port; the zero Addr is none.
func parseAddress(s string) netip.Addr {
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap().WithZone("")
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}
