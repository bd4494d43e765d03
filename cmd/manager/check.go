// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// How long check goes on asking: after an installation, Services need a moment to find their pods.
const (
	checkTimeout  = 30 * time.Second
	checkInterval = time.Second
)

// check asks the gateway at an address for its API until that answers: what `helm test` runs in a pod. It has no API key, so every
// answer of the API will do, also that the key is missing or that the host has no tenant.
func check(ctx context.Context, address string) error {
	client := &http.Client{
		Timeout: 5 * time.Second,
		// The certificate is for the public host, and nothing secret is sent.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}, //nolint:gosec // see above
	}
	var last error
	err := wait.PollUntilContextTimeout(ctx, checkInterval, checkTimeout, true, func(ctx context.Context) (bool, error) {
		last = ask(ctx, client, strings.TrimSuffix(address, "/")+"/api/v1/stats")
		return last == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("the gateway does not answer; look at its pods, its Service and its network policy: %w", last)
	}
	return err
}

// ask fails unless it is Convene that answers, and not with an error of its own.
func ask(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.Header.Get("X-Request-Id") == "":
		return fmt.Errorf("%s is not answered by Convene (%s): something else has the address", url, response.Status)
	case response.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("%s is answered with %s", url, response.Status)
	}
	return nil
}
