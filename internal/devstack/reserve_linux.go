// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"net"
	"strconv"
)

// speakFor takes a name that only one process can have, and that the kernel gives back when the process ends.
func speakFor(port int) (net.Listener, error) {
	return net.Listen("unix", "@convene-port-"+strconv.Itoa(port))
}
