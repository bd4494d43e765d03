// SPDX-License-Identifier: Apache-2.0

package hostname

import (
	"net/url"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for host, want := range map[string]string{
		"meet.example.com": "meet.example.com", "MEET.Example.com:8443": "meet.example.com:8443", "a_b.example": "a_b.example",
		"meet.example.com:443": "meet.example.com", "meet.example.com:": "meet.example.com", "MEET.example.com.": "meet.example.com",
		"meet.example.com.:443": "meet.example.com", "bücher.example.:443": "xn--bcher-kva.example", "会议。例子。": "xn--6oqu09l.xn--fsqu00a",
		"[::1]:443": "[::1]", "10.0.0.1:80": "10.0.0.1:80", "[::1]": "[::1]", "[2001:DB8::1]:80": "[2001:db8::1]:80",
		"bücher.example": "xn--bcher-kva.example", "BÜCHER.Example:8443": "xn--bcher-kva.example:8443", "XN--Bcher-KVA.example": "xn--bcher-kva.example",
		"bu\u0308cher.example": "xn--bcher-kva.example", "faß.example": "xn--fa-hia.example", "b%C3%BCcher.example": "xn--bcher-kva.example",
		"会议.例子": "xn--6oqu09l.xn--fsqu00a", "会议。例子": "xn--6oqu09l.xn--fsqu00a", "ｍｅｅｔ.example": "meet.example",
		"اجتماع.example": "xn--mgbaih1e8c.example",
		// No browser asks for these.
		"evil.example／.example.org": "", "a\u00a0b.example": "", "bü cher.example": "", "xn--ü.example": "", "א1a.example": "",
	} {
		u := &url.URL{Scheme: "https", Host: host}
		if parsed, err := url.Parse("https://" + host + "/"); err == nil {
			u = parsed
		}
		switch got, err := Of(u); {
		case want == "" && err == nil:
			t.Errorf("%s is taken for %s", host, got)
		case want != "" && (err != nil || got != want):
			t.Errorf("%s is %q, %v; want %q", host, got, err, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, seed := range []string{"bücher.example:80", "会议。例子", "[::1]:80", "a\u200db.example", "／", "%C3%BC"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		u, err := url.Parse("https://" + host + "/")
		if err != nil {
			return
		}
		got, err := Of(u)
		if err != nil {
			return
		}
		if again, err := Of(&url.URL{Host: got}); err != nil || again != got {
			t.Errorf("%q is %q, and that is %q, %v", host, got, again, err)
		}
		if u.Host == host && strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) && strings.ContainsAny(got, "/?#@\\% ") {
			t.Errorf("%q becomes %q, which ends elsewhere", host, got)
		}
	})
}

func TestOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://app.example.com": "https://app.example.com", "https://APP.example.com.:443": "https://app.example.com",
		"http://app.example.com:80": "http://app.example.com", "http://app.example.com:443": "http://app.example.com:443",
		"https://app.example.com:8443": "https://app.example.com:8443", "HTTPS://bücher.example": "https://xn--bcher-kva.example",
		"https://*.example.com:443": "https://*.example.com", "capacitor://localhost": "capacitor://localhost", "http://[::1]:80": "http://[::1]",
		"null": "", "": "", "*": "", "app.example.com": "", "https://": "", "https://a b": "", "https://.": "",
	} {
		if got := Origin(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestIsOn(t *testing.T) {
	for _, tc := range []struct {
		allowed, url string
		want         bool
	}{
		{"app.example.com", "https://app.example.com/a", true},
		{"App.Example.com", "https://app.example.com", true},
		{"app.example.com", "https://APP.example.com./a", true},
		{"app.example.com", "http://app.example.com:8080/", true},
		{"app.example.com:443", "https://app.example.com/", true},
		{"app.example.com:443", "https://app.example.com.:443/", true},
		{"app.example.com:80", "http://app.example.com/", true},
		{"app.example.com:443", "http://app.example.com/", false},
		{"app.example.com:443", "http://app.example.com:443/", true},
		{"app.example.com:8443", "https://app.example.com/", false},
		{"app.example.com:8443", "https://app.example.com:8443/", true},
		{"*.example.com", "https://app.example.com./", true},
		{"*.example.com:443", "https://app.example.com/", true},
		{"*.example.com", "https://example.com/", false},
		{"*.example.com", "https://.example.com/", false},
		{"xn--bcher-kva.example", "https://bücher.example./", true},
		{"[2001:db8::1]:443", "https://[2001:DB8::1]/", true},
		{"app.example.com", "https://app.example.com.evil.example/", false},
		{"app.example.com", "https://app.example.com@evil.example/", false},
		{"example.com", "https://a\u00a0b.example.com/", false},
	} {
		u, err := url.Parse(tc.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := IsOn([]string{"other.example", tc.allowed}, u); got != tc.want {
			t.Errorf("%s is on %s: %t", tc.url, tc.allowed, got)
		}
	}
}
