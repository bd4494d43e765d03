// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"net/netip"
	"time"

	"github.com/go-logr/logr"
)

// refusalBounds are for the lines of a log: a client that is refused again and again must not fill a disk.
var refusalBounds = SamplerOptions{Window: time.Minute, Each: 100, Total: 2000, Keys: 4096}

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
