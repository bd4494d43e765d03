// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReaddress(t *testing.T) {
	cases := []struct {
		reason, now, want string
	}{
		{"an address that a start has chosen follows the next start", "http://localhost:8080", "http://localhost:9000"},
		{"an address that the owner has set stays", "https://meet.example.com", "https://meet.example.com"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"baseURL": c.now}}}
			readdress(o, "http://localhost:", "http://localhost:9000", "spec", "baseURL")
			readdress(o, "http://127.0.0.1:", "http://127.0.0.1:9001", "spec", "media", "apiURL")
			want := map[string]any{"spec": map[string]any{"baseURL": c.want}}
			if diff := cmp.Diff(want, o.Object); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		})
	}
}
