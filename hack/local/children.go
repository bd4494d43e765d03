// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"convene.dev/convene/internal/devstack"
)

func (s *stack) startLiveKit(ctx context.Context) error {
	p, err := devstack.LiveKit{
		Binary: s.binaries.LiveKit, Dir: s.dir,
		Port: s.ports[portLiveKit], MediaPort: s.ports[portMedia],
		Key: s.state.Keys.LiveKitKey, Secret: s.state.Keys.LiveKitSecret,
		WebhookURLs: []string{fmt.Sprintf("http://127.0.0.1:%d/media-server/webhook", s.ports[portA])},
	}.Start(ctx)
	if err != nil {
		return err
	}
	s.watch(p)
	return nil
}

func (s *stack) startManager(ctx context.Context) error {
	health := fmt.Sprintf("http://127.0.0.1:%d/readyz", s.ports[portHealth])
	p, err := devstack.Start(ctx, devstack.Command{
		Name: "manager", Path: filepath.Join(s.root, "bin", "manager"),
		Args: []string{
			"--kubeconfig=" + s.managerKubeconfig(),
			"--gateway-bind-address=" + strings.Join(s.gatewayAddresses(), ","),
			"--health-probe-bind-address=" + loopback(s.ports[portHealth]),
			"--metrics-bind-address=" + loopback(s.ports[portMetrics]),
			"--default-config=" + namespace + "/" + tenantA,
			"--log-format=console",
		},
		LogDir: s.logDir(),
		Ready:  func(ctx context.Context) error { return ready(ctx, health) },
		Grace:  10 * time.Second,
	})
	if err != nil {
		return err
	}
	s.watch(p)
	return nil
}

// gatewayAddresses are both tenants' ports on every address that browsers may take "localhost" for.
func (s *stack) gatewayAddresses() []string {
	var addresses []string
	for _, port := range []int{s.ports[portA], s.ports[portB]} {
		for _, host := range devstack.LoopbackHosts() {
			addresses = append(addresses, net.JoinHostPort(host, strconv.Itoa(port)))
		}
	}
	return addresses
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// awaitFree waits a moment for ports that the children of a killed launcher may still hold. Another program may hold them too:
// then other ports are taken.
func awaitFree(ctx context.Context, ports map[string]int) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for _, port := range ports {
		for devstack.Free(port) != nil {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// ready wants 200 from url.
func ready(ctx context.Context, url string) error {
	status, err := get(ctx, url, "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d", url, status)
	}
	return err
}

// answers wants anything but a failure of the server from url: a tenant's owner may have switched an endpoint off.
func answers(ctx context.Context, url, key string) error {
	status, err := get(ctx, url, key)
	if err == nil && status >= http.StatusInternalServerError {
		err = fmt.Errorf("GET %s: %d", url, status)
	}
	return err
}

func get(ctx context.Context, url, key string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	if key != "" {
		req.Header.Set("Authorization", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
