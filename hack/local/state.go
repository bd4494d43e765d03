// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"convene.dev/convene/internal/devstack"
)

// The ports of the stack, in the order in which they are given out, and the ones wanted first.
const (
	portA         = "gatewayA"
	portB         = "gatewayB"
	portLiveKit   = "livekit"
	portMedia     = "media"
	portAPIServer = "kubeAPIServer"
	portEtcd      = "etcd"
	portHealth    = "health"
	portMetrics   = "metrics"
)

var wantedPorts = []struct {
	name string
	port int
}{
	{portA, 8080}, {portB, 8081}, {portLiveKit, 7880}, {portMedia, 7882},
	{portAPIServer, 6443}, {portEtcd, 2379}, {portHealth, 8090}, {portMetrics, 8091},
}

// state is what an installation keeps from one start to the next, so that links and keys that were given out stay
// good.
type state struct {
	Ports map[string]int `json:"ports"`
	Keys  keys           `json:"keys"`

	path string
}

// keys are made at random, once.
type keys struct {
	APIKeyA       string `json:"apiKeyA"`
	APIKeyB       string `json:"apiKeyB"`
	LiveKitKey    string `json:"liveKitKey"`
	LiveKitSecret string `json:"liveKitSecret"`
}

// loadState reads the state, or makes it.
func loadState(path string) (*state, error) {
	s := &state{path: path}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(b, s); err != nil {
			return nil, fmt.Errorf("%s is damaged (%w): remove it, and new keys and ports are made", path, err)
		}
	}
	if s.Ports == nil {
		s.Ports = map[string]int{}
	}
	for _, key := range []*string{&s.Keys.APIKeyA, &s.Keys.APIKeyB, &s.Keys.LiveKitKey, &s.Keys.LiveKitSecret} {
		if *key == "" {
			// Two, because LiveKit asks for 32 characters and one has 26.
			*key = rand.Text() + rand.Text()
		}
	}
	return s, nil
}

// pickPorts returns the ports of the last time where they are free, else the next free ones. A port that is taken today
// is wanted again the next time: links that were given out begin with it.
func (s *state) pickPorts(out io.Writer) (map[string]int, error) {
	ports := map[string]int{}
	var taken []int
	for _, w := range wantedPorts {
		wanted := w.port
		before, known := s.Ports[w.name]
		if known {
			wanted = before
		}
		port, err := devstack.PickPort(wanted, taken...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		if port != wanted && (w.name == portA || w.name == portB) {
			fmt.Fprintf(out, "port %d is in use; taking %d this time\n", wanted, port)
		}
		if !known {
			s.Ports[w.name] = port
		}
		ports[w.name] = port
		taken = append(taken, port)
	}
	return ports, nil
}

// save keeps the state for the next start. It holds secrets.
func (s *state) save() error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.path+".new", append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(s.path+".new", s.path)
}
