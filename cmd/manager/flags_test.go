// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"
)

func TestLeaseTimes(t *testing.T) {
	for _, c := range []struct {
		reason string
		args   []string
		ok     bool
	}{
		{"the defaults", nil, true},
		{"shorter ones", []string{"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms"}, true},
		{"the leader would go on after another has begun", []string{"--leader-elect-renew-deadline=15s"}, false},
		{"it would give up before it tries again", []string{"--leader-elect-retry-period=9s"}, false},
		{"never is no period", []string{"--leader-elect-retry-period=0s"}, false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if _, err := parse(c.args, func(string) string { return "" }, io.Discard); (err == nil) != c.ok {
				t.Errorf("parse: %v", err)
			}
		})
	}
}

// A flag that has gone says so, in place of "not defined".
func TestFlagsThatHaveGone(t *testing.T) {
	for arg, instead := range map[string]string{
		"--replica-port=9091": "leave it out", "--replica-port": "leave it out", "--release": "leave it out",
		"-engine-calls-per-second=10": "--engine-calls-per-second is --media-server-calls-per-second now", "--engine-calls-per-second": "is --media-server-calls-per-second",
	} {
		_, err := parse([]string{"--verbose", arg, "10"}, func(string) string { return "" }, io.Discard)
		if err == nil || !strings.Contains(err.Error(), instead) {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestBoundsOfFlags(t *testing.T) {
	for arg, ok := range map[string]bool{
		"--media-server-calls-per-second=10": true, "--media-server-calls-per-second=0": false,
		"--write-timeout=10s": true, "--write-timeout=0s": false, "--write-timeout=11s": false,
		"--proxy-idle-timeout=75s": true, "--proxy-idle-timeout=0s": false, "--proxy-idle-timeout=-1s": false,
	} {
		if _, err := parse([]string{arg}, func(string) string { return "" }, io.Discard); (err == nil) != ok {
			t.Errorf("%s: %v", arg, err)
		}
	}
}
