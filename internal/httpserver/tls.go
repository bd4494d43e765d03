// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"crypto/tls"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// certificates reads the certificate now, and again whenever its files change: at once where the file system tells, else
// within ten seconds. One that cannot be read leaves the last good one in place.
func (s *Server) certificates() (*certwatcher.CertWatcher, error) {
	watcher, err := certwatcher.New(s.CertFile, s.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("the gateway cannot use the certificate in %s with the key in %s: %w", s.CertFile, s.KeyFile, err)
	}
	return watcher, nil
}

// tlsConfig leaves HTTP/2 out: one of its connections holds hundreds of requests, and is counted as one.
func tlsConfig(certificates *certwatcher.CertWatcher) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificates.GetCertificate, NextProtos: []string{"http/1.1"}}
}
