// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var benchClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}

// perRequest is the server's processor time for one request, with 64 clients at once.
func perRequest(t *testing.T, pid int, method, url, key string, body any) time.Duration {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	run := func(n int) {
		var left atomic.Int64
		left.Store(int64(n))
		var clients sync.WaitGroup
		for range 64 {
			clients.Go(func() {
				for left.Add(-1) >= 0 {
					request, _ := http.NewRequest(method, url, bytes.NewReader(encoded))
					request.Header.Set("authorization", key)
					response, err := benchClient.Do(request)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
					if response.StatusCode != http.StatusOK {
						t.Errorf("%s %s answered %d", method, url, response.StatusCode)
						return
					}
				}
			})
		}
		clients.Wait()
	}
	run(2000)
	const n = 20000
	before := cpu(t, pid)
	run(n)
	return (cpu(t, pid) - before) / n
}

// perSecond is how often work is done in a second by 16 workers.
func perSecond(n int, work func(i int) error) (float64, error) {
	var next atomic.Int64
	var failed atomic.Value
	var workers sync.WaitGroup
	began := time.Now()
	for range 16 {
		workers.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := work(int(i)); err != nil {
					failed.Store(err)
					return
				}
			}
		})
	}
	workers.Wait()
	err, _ := failed.Load().(error)
	return float64(n) / time.Since(began).Seconds(), err
}
