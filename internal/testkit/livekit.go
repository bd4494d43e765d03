// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"cmp"
	"context"
	"crypto/rand"
	"regexp"
	"testing"

	"convene.dev/convene/internal/devstack"
)

// LiveKitOptions of a server for a test.
type LiveKitOptions struct {
	// WebhookURLs are told of what happens in rooms.
	WebhookURLs []string
	// Redis (host:port) of servers that work together.
	Redis string
	// Key and Secret of the API; empty means ones of this server's own.
	Key, Secret string
	// MoreKeys of the API, each with its secret.
	MoreKeys map[string]string
	// NoUnmute is as in devstack.
	NoUnmute bool
}

// LiveKitServer is a real LiveKit on the loopback interface. Without Redis it keeps nothing over a restart.
type LiveKitServer struct {
	// URL (http) of the API and of signalling.
	URL string
	// Key and Secret of the API.
	Key, Secret string

	server devstack.LiveKit
	proc   *devstack.Process
}

// LiveKit starts a server, which ends with the test. When the test fails, its log is printed.
func LiveKit(t testing.TB, opts LiveKitOptions) *LiveKitServer {
	t.Helper()
	ports, err := devstack.RandomPorts(2)
	if err != nil {
		t.Fatal(err)
	}
	s := &LiveKitServer{
		Key: cmp.Or(opts.Key, "key-"+rand.Text()), Secret: cmp.Or(opts.Secret, rand.Text()+rand.Text()),
	}
	s.server = devstack.LiveKit{
		Binary: binaries(t).LiveKit, Dir: t.TempDir(),
		Port: ports[0], MediaPort: ports[1],
		Key: s.Key, Secret: s.Secret, MoreKeys: opts.MoreKeys, WebhookURLs: opts.WebhookURLs, Redis: opts.Redis,
		NoUnmute: opts.NoUnmute,
	}
	s.URL = s.server.URL()
	s.Start(t)
	t.Cleanup(func() {
		s.proc.Kill()
		if t.Failed() {
			t.Logf("LiveKit's log:\n%s", s.proc.Log())
		}
	})
	return s
}

// Start starts the server again after Stop or Kill, on the same ports and keys, and returns once it answers.
func (s *LiveKitServer) Start(t testing.TB) {
	t.Helper()
	proc, err := s.server.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s.proc = proc
}

// Stop ends the server in order: peers are told.
func (s *LiveKitServer) Stop() { s.proc.Stop() }

// Kill ends the server without warning (SIGKILL).
func (s *LiveKitServer) Kill() { s.proc.Kill() }

// Restart kills the server and starts it again.
func (s *LiveKitServer) Restart(t testing.TB) {
	t.Helper()
	s.Kill()
	s.Start(t)
}

// PID of the server's process.
func (s *LiveKitServer) PID() int { return s.proc.PID() }

// Log returns what the server has written since it was last started.
func (s *LiveKitServer) Log() string { return s.proc.Log() }

// LogSize returns how many bytes the server has written into its log since it was started.
func (s *LiveKitServer) LogSize(t testing.TB) int64 {
	t.Helper()
	size, err := s.proc.LogSize()
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// Node is the name that the server has among those that share its Redis, since it was last started.
func (s *LiveKitServer) Node(t testing.TB) string {
	t.Helper()
	found := nodeID.FindStringSubmatch(s.proc.Log())
	if found == nil {
		t.Fatal("LiveKit's log does not name the node")
	}
	return found[1]
}

var nodeID = regexp.MustCompile(`"nodeID": "([^"]+)"`)
