// SPDX-License-Identifier: Apache-2.0

package clientip

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestOf(t *testing.T) {
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tc := range []struct {
		reason, remote string
		forwarded      []string
		want           string
	}{
		{"nobody in between", "192.0.2.1:1234", nil, "192.0.2.1"},
		{"a stranger's claim", "192.0.2.1:1234", []string{"198.51.100.1"}, "192.0.2.1"},
		{"a proxy", "10.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"two proxies", "10.0.0.1:1234", []string{"198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"two proxies, in two headers", "10.0.0.1:1234", []string{"198.51.100.1", "10.0.0.2"}, "198.51.100.1"},
		{"two headers", "10.0.0.1:1234", []string{"203.0.113.7", "198.51.100.1"}, "198.51.100.1"},
		{"made up before", "10.0.0.1:1234", []string{"10.9.9.9, 203.0.113.7, 198.51.100.1"}, "198.51.100.1"},
		{"with a port", "10.0.0.1:1234", []string{"198.51.100.1:80"}, "198.51.100.1"},
		{"a proxy that says nothing", "10.0.0.1:1234", nil, "10.0.0.1"},
		{"a proxy that says nonsense", "10.0.0.1:1234", []string{"unknown"}, "10.0.0.1"},
		{"nonsense before a proxy", "10.0.0.1:1234", []string{"unknown, 10.0.0.2"}, "10.0.0.2"},
		{"proxies all the way", "10.0.0.1:1234", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"IPv6 by network", "[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::"},
		{"IPv6 through IPv6", "[fd00::1]:80", []string{"2001:db8:1:2:3::4"}, "2001:db8:1:2::"},
		{"IPv6 in brackets, with a port", "[fd00::1]:1234", []string{"[2001:db8::9]:443"}, "2001:db8::"},
		{"IPv6 in brackets, without a port", "[fd00::1]:1234", []string{"[2001:db8::9]"}, "2001:db8::"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:1234", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"with a zone", "[fe80::1%eth0]:1234", nil, "fe80::"},
	} {
		r := &http.Request{RemoteAddr: tc.remote, Header: http.Header{"X-Forwarded-For": tc.forwarded}}
		if got := trusted.Of(r).String(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
	none := &http.Request{RemoteAddr: "10.0.0.1:1234", Header: http.Header{"X-Forwarded-For": {"198.51.100.1"}}}
	if got := (Proxies)(nil).Of(none).String(); got != "10.0.0.1" {
		t.Errorf("without trusted proxies: %s", got)
	}
}

// FuzzOf: whatever the headers say, a stranger's address is the one that the connection has.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{"", "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:80", "fe80::1%eth0", ",,,", "unknown", "10.1.1.1"} {
		f.Add(seed, seed)
	}
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, remote, forwarded string) {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": {forwarded}}}
		got := trusted.Of(r)
		if got.Zone() != "" || got.Is4In6() {
			t.Errorf("%s", got)
		}
		if from, _ := parse(remote); !trusted.Trust(from) && got != (Proxies)(nil).Of(r) {
			t.Errorf("a stranger at %q with %q is taken for %s", remote, forwarded, got)
		}
	})
}
