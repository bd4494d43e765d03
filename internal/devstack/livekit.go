// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sigs.k8s.io/yaml"
)

// LiveKit is a media server for browsers on this machine.
type LiveKit struct {
	Binary string
	// Dir holds its configuration (with the secret) and its log.
	Dir string
	// Port is for signalling and the API, MediaPort (UDP) for media. Both on the loopback interface only.
	Port, MediaPort int
	// Key and Secret (at least 32 characters) of the API.
	Key, Secret string
	// MoreKeys of the API, each with its secret.
	MoreKeys map[string]string
	// WebhookURLs are told of what happens in rooms.
	WebhookURLs []string
	// NoUnmute leaves out what lets Convene unmute telephones.
	NoUnmute bool
	// Redis (host:port) is where several servers find each other; empty means that this one is alone.
	Redis string
}

// Start starts the server and returns once it answers.
func (l LiveKit) Start(ctx context.Context) (*Process, error) {
	path := filepath.Join(l.Dir, "livekit.yaml")
	conf, err := yaml.Marshal(l.config())
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, conf, 0o600); err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return Start(ctx, Command{
		Name: "livekit-server", Path: l.Binary, Args: []string{"--config=" + path}, LogDir: filepath.Join(l.Dir, "log"),
		Ready: func(ctx context.Context) error { return getOK(ctx, client, l.URL()+"/") },
		Grace: 100 * time.Millisecond,
	})
}

// URL of the API and of signalling.
func (l LiveKit) URL() string { return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Port)) }

func getOK(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return nil
}

func (l LiveKit) config() map[string]any {
	keys := map[string]string{l.Key: l.Secret}
	maps.Copy(keys, l.MoreKeys)
	conf := map[string]any{
		"port":           l.Port,
		"bind_addresses": LoopbackHosts(),
		"keys":           keys,
		// Of lines with the same text LiveKit then writes the first 20 of a second and every hundredth: a participant can cause many.
		"logging": map[string]any{"level": "info", "sample": true},
		// A peer that was removed, or whose room has ended, would make the room again.
		// A telephone that was muted cannot unmute itself. Convene unmutes no page.
		"room": map[string]any{"auto_create": false, "enable_remote_unmute": !l.NoUnmute},
		"rtc": map[string]any{
			"udp_port": l.MediaPort,
			// TCP cannot be bound to loopback alone.
			"tcp_port":                  0,
			"node_ip":                   "127.0.0.1",
			"use_external_ip":           false,
			"enable_loopback_candidate": true,
			"ips":                       map[string]any{"includes": []string{"127.0.0.1/32"}},
			// With none named, browsers are sent to public STUN servers. Nothing needs to answer at this one.
			"stun_servers": []string{"127.0.0.1:3478"},
			// How often a sender may be asked for a picture to start from: the default of 1 s makes the second of
			// two people who come together wait for it.
			"pli_throttle": map[string]any{"low_quality": "100ms", "mid_quality": "100ms", "high_quality": "100ms"},
			// For a participant who receives too slowly LiveKit holds so many bytes of data, and drops what comes then.
			"data_channel_max_buffered_amount": 1 << 20,
		},
		// A page writes a section of its session description for each track that it is sent. Without limits, many tracks make the description
		// longer than the gateway takes, and the page loses its connection. Pages take a hundred cameras.
		"limit": map[string]any{"subscription_limit_video": 120, "subscription_limit_audio": 1000},
	}
	if l.Redis != "" {
		conf["redis"] = map[string]any{"address": l.Redis}
	}
	if len(l.WebhookURLs) > 0 {
		conf["webhook"] = map[string]any{"api_key": l.Key, "urls": l.WebhookURLs}
	}
	return conf
}
