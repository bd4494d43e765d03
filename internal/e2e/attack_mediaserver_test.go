// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// chartsMemory is the memory that the chart gives a manager.
var chartsMemory = testkit.ManagerOptions{Env: []string{"GOMEMLIMIT=460MiB"}}

// TestAttackByAMediaServer: whoever writes a MediaServer decides what answers the managers, and no tenant has to use it. What such servers
// answer takes little memory, little time and little of the log, and the other tenants' calls are answered.
func TestAttackByAMediaServer(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	const servers, looks = 10, 10 * time.Second
	empty := bytes.Repeat([]byte{0x0a, 0}, 8<<20)
	members := map[string]string{}
	for i := range 9000 {
		members[strconv.Itoa(i)] = ""
	}
	meta, err := json.Marshal(map[string]any{"code": "internal", "msg": strings.Repeat("m", 8<<20), "meta": members})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(empty) // A bytes.Buffer takes everything.
	_ = w.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"elements of two bytes": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(empty) },
		"such elements, packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		},
		"an error with many members": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(meta)
		},
		"a long header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", strings.Repeat("x", 9<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, testkit.ControlPlane(t), chartsMemory)
			before, spentBefore := heldMemory(t, w.manager.PID()), cpu(t, w.manager.PID())
			var sent atomic.Int64
			hostile := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				sent.Add(1)
				answer(out, r)
			}))
			defer hostile.Close()
			for i := range servers {
				server := testkit.MediaServer(w.Namespace, hostile.URL+fmt.Sprint("/", i))
				server.Name = fmt.Sprint("hostile-", i)
				w.Create(t, server)
			}
			most, slowest, began := before, time.Duration(0), time.Now()
			for time.Since(began) < looks {
				asked := time.Now()
				w.a.want(http.StatusOK, "GET", "/api/v1/stats", nil)
				slowest = max(slowest, time.Since(asked))
				most = max(most, heldMemory(t, w.manager.PID()))
			}
			spent := cpu(t, w.manager.PID()) - spentBefore
			longest := 0
			for line := range strings.Lines(w.manager.Log()) {
				longest = max(longest, len(line))
			}
			t.Logf("%d answers: %.0f MB at most, %.0f before; %s of processor; the slowest call took %s; the longest line has %d bytes",
				sent.Load(), most, before, spent, slowest, longest)
			if sent.Load() < servers || most-before > 80 || longest > 2000 {
				t.Errorf("%d answers: %.0f MB at most, %.0f before; the longest line has %d bytes", sent.Load(), most, before, longest)
			}
		})
	}
}
