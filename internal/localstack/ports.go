// SPDX-License-Identifier: Apache-2.0

package localstack

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
)

// LoopbackHosts are the addresses that "localhost" may resolve to on this machine.
func LoopbackHosts() []string {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return []string{"127.0.0.1"}
	}
	_ = l.Close()
	return []string{"127.0.0.1", "::1"}
}

// portsToTry is how many ports after the wanted one are looked at before giving up.
const portsToTry = 200

// PickPort returns the wanted port, or the next one after it, that is free for TCP and UDP on every loopback address
// and not among those taken.
func PickPort(wanted int, taken ...int) (int, error) {
	hosts := LoopbackHosts()
	for port := wanted; port < wanted+portsToTry && port <= 65535; port++ {
		if !slices.Contains(taken, port) && free(hosts, port) == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port on the loopback interface from %d to %d: end what listens there (ss -ltnup shows it)",
		wanted, wanted+portsToTry-1)
}

func free(hosts []string, port int) error {
	for _, host := range hosts {
		addr := net.JoinHostPort(host, strconv.Itoa(port))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		u, err := net.ListenPacket("udp", addr)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		if err := errors.Join(u.Close(), l.Close()); err != nil {
			return err
		}
	}
	return nil
}

// RandomPorts returns n different ports, chosen by the kernel, that were free for TCP and UDP a moment ago.
func RandomPorts(n int) ([]int, error) {
	hosts := LoopbackHosts()
	ports := make([]int, 0, n)
	for tries := 0; len(ports) < n; tries++ {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		if err := l.Close(); err != nil {
			return nil, err
		}
		err = free(hosts, port)
		switch {
		case err == nil && !slices.Contains(ports, port):
			ports = append(ports, port)
		case err != nil && tries > portsToTry:
			return nil, err
		}
	}
	return ports, nil
}
