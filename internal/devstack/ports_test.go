// SPDX-License-Identifier: Apache-2.0

package devstack_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"convene.dev/convene/internal/devstack"
)

func TestPickPort(t *testing.T) {
	for _, network := range []string{"tcp", "udp"} {
		t.Run("passes over a port taken for "+network, func(t *testing.T) {
			taken := listen(t, network)
			got, err := devstack.PickPort(taken, taken+1)
			if err != nil {
				t.Fatal(err)
			}
			if got <= taken+1 {
				t.Fatalf("got %d, with %d in use and %d spoken for", got, taken, taken+1)
			}
		})
	}
	ports, err := devstack.RandomPorts(8)
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

// TestPortOfAnotherProcess starts a process that has picked ports and not yet used them.
func TestPortOfAnotherProcess(t *testing.T) {
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), roleEnv+"=picker")
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// It reads this until its end.
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	})
	var theirs int
	if _, err := fmt.Fscan(out, &theirs); err != nil {
		t.Fatal(err)
	}
	mine, err := devstack.PickPort(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if mine == theirs {
		t.Fatalf("both processes got %d", mine)
	}
	if again, err := devstack.PickPort(mine); again != mine {
		t.Fatalf("had %d, got %d (%v) the next time", mine, again, err)
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
