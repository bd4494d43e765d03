// SPDX-License-Identifier: Apache-2.0

package localstack_test

import (
	"net"
	"testing"

	"convene.dev/convene/internal/localstack"
)

func TestPickPort(t *testing.T) {
	for _, network := range []string{"tcp", "udp"} {
		t.Run("passes over a port taken for "+network, func(t *testing.T) {
			taken := listen(t, network)
			got, err := localstack.PickPort(taken, taken+1)
			if err != nil {
				t.Fatal(err)
			}
			if got <= taken+1 {
				t.Fatalf("got %d, with %d in use and %d spoken for", got, taken, taken+1)
			}
		})
	}
	ports, err := localstack.RandomPorts(8)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range ports {
		seen[p] = true
	}
	if len(seen) != 8 {
		t.Fatalf("want 8 different ports, got %v", ports)
	}
}

func listen(t *testing.T, network string) int {
	t.Helper()
	if network == "udp" {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c.LocalAddr().(*net.UDPAddr).Port
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
