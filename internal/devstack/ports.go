// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
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

// portsToTry is how many ports are looked at before giving up.
const portsToTry = 200

// PickPort returns the wanted port, or the next one after it, that is free for TCP and UDP on every loopback address,
// not among those taken, and not spoken for by another process that uses this package. It is then spoken for by this
// one until it ends: a child that is started later, or again, finds it free.
func PickPort(wanted int, taken ...int) (int, error) {
	hosts := LoopbackHosts()
	for port := wanted; port < wanted+portsToTry && port <= 65535; port++ {
		if !slices.Contains(taken, port) && free(hosts, port) == nil && reservations.take(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port on the loopback interface from %d to %d: end what listens there (ss -ltnup shows it)",
		wanted, wanted+portsToTry-1)
}

// Free returns nil when nothing uses the port.
func Free(port int) error { return free(LoopbackHosts(), port) }

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

// The ports for tests. From 32768 on the kernel gives ports to outgoing connections, and so to any process while a server
// is being started again.
const (
	firstRandomPort = 12000
	lastRandomPort  = 32000
)

// RandomPorts returns n different free ports, spoken for as those of PickPort are.
func RandomPorts(n int) ([]int, error) {
	var ports []int
	for range n * portsToTry {
		if len(ports) == n {
			return ports, nil
		}
		port := firstRandomPort + rand.IntN(lastRandomPort-firstRandomPort)
		if !reservations.has(port) && Free(port) == nil && reservations.take(port) {
			ports = append(ports, port)
		}
	}
	return nil, fmt.Errorf("no %d free ports on the loopback interface from %d to %d", n, firstRandomPort, lastRandomPort)
}

// reservations are the ports that this process speaks for. They end with it.
var reservations portSet

type portSet struct {
	mu    sync.Mutex
	ports map[int]net.Listener
}

func (s *portSet) has(port int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, mine := s.ports[port]
	return mine
}

// take is false when another process has the port.
func (s *portSet) take(port int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, mine := s.ports[port]; mine {
		return true
	}
	held, err := speakFor(port)
	if err != nil {
		return false
	}
	if s.ports == nil {
		s.ports = map[int]net.Listener{}
	}
	s.ports[port] = held
	return true
}
