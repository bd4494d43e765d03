// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// uplink carries the TCP connections of one tab, as a SOCKS5 proxy (RFC 1928) that can be cut. Chromium's own emulation of a
// network that is away ends its network process now and then, and with it the connections of all tabs.
type uplink struct {
	listener net.Listener

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]struct{}
}

func newUplink() (*uplink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &uplink{listener: l, conns: map[net.Conn]struct{}{}}
	go u.serve()
	return u, nil
}

func (u *uplink) url() string { return "socks5://" + u.listener.Addr().String() }

// setCut ends all connections and refuses new ones, or lets them through again.
func (u *uplink) setCut(cut bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.cut = cut
	if !cut {
		return
	}
	for c := range u.conns {
		_ = c.Close()
	}
}

func (u *uplink) close() {
	_ = u.listener.Close()
	u.setCut(true)
}

func (u *uplink) serve() {
	for {
		c, err := u.listener.Accept()
		if err != nil {
			return
		}
		go u.carry(c)
	}
}

func (u *uplink) carry(c net.Conn) {
	defer u.done(c)
	if !u.admit(c) {
		return
	}
	address, err := readDestination(c)
	if err != nil {
		return
	}
	to, err := net.Dial("tcp", address)
	if err != nil {
		_, _ = c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0}) // The destination refused.
		return
	}
	_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}) // Connected. Relay notices when c has ended.
	Relay(c, to)
}

// Relay passes on what either connection says, until one of them ends. It closes the second one.
func Relay(c, to net.Conn) {
	go func() {
		_, _ = io.Copy(to, c)
		_ = to.Close()
	}()
	_, _ = io.Copy(c, to)
	_ = to.Close()
}

func (u *uplink) admit(c net.Conn) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.conns[c] = struct{}{}
	return !u.cut
}

func (u *uplink) done(c net.Conn) {
	_ = c.Close()
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.conns, c)
}

// hostName is the kind of address that Chromium sends, for IP addresses too.
const hostName = 3

// readDestination answers a client's greeting, and returns the address that it asks for.
func readDestination(c io.ReadWriter) (string, error) {
	greeting := make([]byte, 2)
	if _, err := io.ReadFull(c, greeting); err != nil {
		return "", err
	}
	if _, err := io.CopyN(io.Discard, c, int64(greeting[1])); err != nil {
		return "", err
	}
	if _, err := c.Write([]byte{5, 0}); err != nil { // No authentication.
		return "", err
	}
	request := make([]byte, 5)
	if _, err := io.ReadFull(c, request); err != nil {
		return "", err
	}
	if kind := request[3]; kind != hostName {
		return "", fmt.Errorf("unknown kind of address: %d", kind)
	}
	size := int(request[4])
	rest := make([]byte, size+2)
	_, err := io.ReadFull(c, rest)
	return net.JoinHostPort(string(rest[:size]), strconv.Itoa(int(binary.BigEndian.Uint16(rest[size:])))), err
}
