// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"log"

	"github.com/go-logr/logr"
)

// quietLogger keeps what clients do wrong out of the log unless --verbose is set.
func quietLogger(to logr.Logger) *log.Logger {
	return log.New(writer{to.V(1)}, "", 0)
}

type writer struct{ log logr.Logger }

func (w writer) Write(p []byte) (int, error) {
	w.log.Info("HTTP server", "message", string(p))
	return len(p), nil
}
