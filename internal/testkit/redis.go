// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/devstack"
)

// RedisServer is a real Redis on the loopback interface, which keeps nothing over a restart.
type RedisServer struct {
	// Address is host:port.
	Address string
}

// Redis starts the machine's redis-server. It ends with the test.
func Redis(t testing.TB) RedisServer {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("%v: `apt-get install redis-server` (make test-cluster does it)", err)
	}
	ports, err := devstack.RandomPorts(1)
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(ports[0])
	address := net.JoinHostPort("127.0.0.1", port)
	dir := t.TempDir()
	server, err := devstack.Start(context.Background(), devstack.Command{
		Name: "redis-server", Path: path, Dir: dir, LogDir: dir,
		Args: []string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no"},
		Ready: func(ctx context.Context) error {
			_, err := RedisServer{address}.ask(ctx, "PING")
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return RedisServer{address}
}

// HashField returns one field of a hash; empty when it is not there.
func (r RedisServer) HashField(t testing.TB, hash, field string) string {
	t.Helper()
	value, err := r.ask(t.Context(), fmt.Sprintf("HGET %q %q", hash, field))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// ask sends one command and returns the answer, which has to be one string without line breaks.
func (r RedisServer) ask(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.Address)
	if err != nil {
		return "", err
	}
	defer func() { _ = connection.Close() }()
	if _, err := fmt.Fprint(connection, command+"\r\n"); err != nil {
		return "", err
	}
	answer := bufio.NewReader(connection)
	line, err := answer.ReadString('\n')
	line = strings.TrimSpace(line)
	switch {
	case err != nil:
		return "", err
	case strings.HasPrefix(line, "-"):
		return "", fmt.Errorf("redis answers %s", line)
	case line == "$-1" || !strings.HasPrefix(line, "$"):
		return strings.TrimPrefix(line, "$-1"), nil
	}
	line, err = answer.ReadString('\n')
	return strings.TrimSpace(line), err
}
