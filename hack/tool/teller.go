// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"time"
)

// teller tells what goes on: on a terminal on one line that is rewritten, elsewhere one line for each step.
type teller struct {
	out      *os.File
	terminal bool
}

func newTeller(out *os.File) *teller {
	info, err := out.Stat()
	return &teller{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// clearLine goes to the beginning of the line of a terminal and clears it.
const clearLine = "\r\x1b[K"

// start tells what begins where nothing will be rewritten.
func (t *teller) start(format string, args ...any) {
	if !t.terminal {
		t.line(format, args...)
	}
}

// progress tells how far it is, on a terminal only.
func (t *teller) progress(format string, args ...any) {
	if t.terminal {
		fmt.Fprintf(t.out, clearLine+format, args...)
	}
}

func (t *teller) clear() {
	if t.terminal {
		fmt.Fprint(t.out, clearLine)
	}
}

func (t *teller) line(format string, args ...any) {
	fmt.Fprintf(t.out, format+"\n", args...)
}

// spoken is a duration as a person says it.
func spoken(d time.Duration) string {
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// measured is how long builds take from an empty cache on two idle cores.
var measured = map[string]time.Duration{
	"kube-apiserver":        5 * time.Minute,
	"oldest-kube-apiserver": 5 * time.Minute,
	"helm":                  90 * time.Second,
	"golangci-lint":         2 * time.Minute,
	// After kube-apiserver, which shares much of them.
	"etcd":                    15 * time.Second,
	"kubectl":                 40 * time.Second,
	"livekit-server":          75 * time.Second,
	"kubelet":                 4 * time.Minute,
	"kube-controller-manager": time.Minute,
	"containerd":              2 * time.Minute,
	"coredns":                 time.Minute,
}

func usually(name string) string {
	d, known := measured[name]
	if !known {
		d = 30 * time.Second
	}
	return "usually " + spoken(d) + " on two cores"
}
