// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/go-logr/logr"
)

// Bounds are for the lines of a log: no client fills a disk, or has the lines of others thrown away before they are read.
var (
	refusalBounds = SamplerOptions{Window: time.Minute, Each: 100, Total: 2000, Keys: 4096}
	// keyedBounds are far above what backends do in a minute, since what they change is worth a line.
	keyedBounds = SamplerOptions{Window: time.Minute, Each: 6000, Total: 60_000, Keys: 4096}
)

// Refusals bound what is logged of clients that nothing is known of but their address.
type Refusals = Sampler[netip.Addr]

// NewRefusals makes Refusals that log how many they left out of one address in a minute.
func NewRefusals(log logr.Logger) *Refusals {
	return NewSampler(refusalBounds, func(from netip.Addr, dropped int) {
		address := "others"
		if from.IsValid() {
			address = from.String()
		}
		log.Info("Refused calls that were not logged", "address", address, "count", dropped, "seconds", int(refusalBounds.Window.Seconds()))
	})
}

// Keyed bound what is logged of calls with an API key, by the namespace of the key.
type Keyed = Sampler[string]

// NewKeyed makes a Keyed that logs how many calls it left out of one namespace in a minute.
func NewKeyed(log logr.Logger) *Keyed {
	return NewSampler(keyedBounds, func(namespace string, dropped int) {
		log.Info("Calls with an API key that were not logged", "namespace", cmp.Or(namespace, "others"), "count", dropped,
			"seconds", int(keyedBounds.Window.Seconds()))
	})
}
