// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/tenant"
)

func TestWrongKeys(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	try := func(key, from string) response {
		return w.do(http.MethodGet, "stats", "", header("Authorization", key), header("X-Forwarded-For", from))
	}
	for i := range wrongPerMinute {
		if got := try(fmt.Sprintf("wrong-%d", i), "192.0.2.1"); got.status != http.StatusForbidden {
			t.Fatalf("wrong key %d: %d", i+1, got.status)
		}
	}
	got := try("wrong", "192.0.2.1")
	if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != http.StatusTooManyRequests || err != nil || seconds != 1 {
		t.Errorf("one more: %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	for _, tc := range []struct {
		reason, key, from string
		status            int
	}{
		{"the right key passes", rightKey, "192.0.2.1", 200},
		{"no key is no guess", "", "192.0.2.1", 403},
		{"another address", "wrong", "192.0.2.2", 403},
		{"another address that claims to be a proxy's client", "wrong", "192.0.2.1, 192.0.2.3", 403},
		{"what a client makes up before its proxy's word", "wrong", "203.0.113.9, 192.0.2.1", 429},
	} {
		if got := try(tc.key, tc.from); got.status != tc.status {
			t.Errorf("%s: %d, want %d", tc.reason, got.status, tc.status)
		}
	}
	w.pass(600 * time.Millisecond)
	if got := try("wrong", "192.0.2.1"); got.status != http.StatusForbidden {
		t.Errorf("a while later: %d", got.status)
	}
	if got := try("wrong", "192.0.2.1"); got.status != http.StatusTooManyRequests {
		t.Errorf("and once more: %d", got.status)
	}
}

func TestClientAddress(t *testing.T) {
	trusted := proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tc := range []struct {
		reason, remote string
		forwarded      []string
		want           string
	}{
		{"nobody in between", "192.0.2.1:1234", nil, "192.0.2.1"},
		{"nobody trusted in between", "192.0.2.1:1234", []string{"198.51.100.1"}, "192.0.2.1"},
		{"a proxy", "10.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"two proxies", "10.0.0.1:1234", []string{"198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"two headers", "10.0.0.1:1234", []string{"203.0.113.7", "198.51.100.1"}, "198.51.100.1"},
		{"made up before", "10.0.0.1:1234", []string{"10.9.9.9, 203.0.113.7, 198.51.100.1"}, "198.51.100.1"},
		{"with a port", "10.0.0.1:1234", []string{"198.51.100.1:80"}, "198.51.100.1"},
		{"nonsense", "10.0.0.1:1234", []string{"unknown"}, "10.0.0.1"},
		{"nonsense before a proxy", "10.0.0.1:1234", []string{"unknown, 10.0.0.2"}, "10.0.0.2"},
		{"proxies all the way", "10.0.0.1:1234", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"IPv6 by network", "[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::"},
		{"IPv6 in brackets, with a port", "[fd00::1]:1234", []string{"[2001:db8::9]:443"}, "2001:db8::"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:1234", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"with a zone", "[fe80::1%eth0]:1234", nil, "fe80::"},
	} {
		r := &http.Request{RemoteAddr: tc.remote, Header: http.Header{"X-Forwarded-For": tc.forwarded}}
		if got := trusted.client(r).String(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
}

func TestLimitersAreBounded(t *testing.T) {
	var l limiters[int]
	for i := range 10 * maxLimiters {
		l.take(i, 1, 1, start)
		// One that is used again and again is never forgotten.
		if wait := l.take(-1, 0.001, 1, start); i > 0 && wait == 0 {
			t.Fatalf("forgotten after %d others", i)
		}
	}
	if n := len(l.now) + len(l.old); n > 2*maxLimiters {
		t.Errorf("%d limiters", n)
	}
}

func TestRateLimit(t *testing.T) {
	limit := &v1alpha1.RateLimitSpec{RequestsPerSecond: 2, Burst: ptr(int32(3))}
	one := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.RateLimit = limit })
	w := newWorld(t, one).serve()
	try := func(key string) response {
		return w.do(http.MethodGet, "stats", "", header("Authorization", key))
	}
	for i, want := range []int{200, 200, 200, 429, 429} {
		got := try(rightKey)
		if got.status != want || (got.header.Get("Retry-After") == "1") != (want == 429) {
			t.Errorf("request %d: %d, Retry-After %q", i+1, got.status, got.header.Get("Retry-After"))
		}
	}
	if got := try(rotatedKey); got.status != http.StatusOK {
		t.Errorf("the other key has its own: %d", got.status)
	}
	w.pass(500 * time.Millisecond)
	for _, want := range []int{200, 429} {
		if got := try(rightKey); got.status != want {
			t.Errorf("half a second later: %d, want %d", got.status, want)
		}
	}
	raised := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.RateLimit = &v1alpha1.RateLimitSpec{RequestsPerSecond: 1000} })
	w.hosts[host] = raised
	try(rightKey)
	w.pass(10 * time.Millisecond)
	if got := try(rightKey); got.status != http.StatusOK {
		t.Errorf("a raised limit counts from the next request on: %d", got.status)
	}
	w.hosts[host] = testTenant(v1alpha1.VariantA)
	for range 1000 {
		if got := try(rightKey); got.status != http.StatusOK {
			t.Fatalf("without a limit there is none: %d", got.status)
		}
	}
}
