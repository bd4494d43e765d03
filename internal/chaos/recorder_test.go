// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"convene.dev/convene/internal/testkit"
)

// recorder numbers the manager's writes on both ways out, and does something to one of them.
type recorder struct {
	mu     sync.Mutex
	writes []string
	counts map[string]int

	// at names the write that the fault is for; met says when it came.
	at    string
	fault testkit.Fault
	met   time.Time
}

// record has every write from now on recorded. at may be empty.
func (w *world) record(at string, fault testkit.Fault) *recorder {
	r := &recorder{counts: map[string]int{}, at: at, fault: fault}
	w.kubernetes.Place(func(q *http.Request) testkit.Fault {
		if w.reads != nil && q.Method == http.MethodGet {
			return w.reads(q)
		}
		return r.see(kubernetesWrite(q))
	})
	w.media.Place(func(q *http.Request) testkit.Fault { return r.see(mediaWrite(q)) })
	return r
}

func (r *recorder) see(write string) testkit.Fault {
	if write == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[write]++
	name := fmt.Sprintf("%s #%d", write, r.counts[write])
	r.writes = append(r.writes, name)
	if name != r.at {
		return nil
	}
	r.met = time.Now()
	return r.fault
}

// all are the writes so far, and when the one with the fault came.
func (r *recorder) all() (writes []string, met time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.writes), r.met
}

// kubernetesWrite names a write to the API server, empty for anything else. Events and Leases do not count: losing
// one changes nothing.
func kubernetesWrite(q *http.Request) string {
	if q.Method == http.MethodGet {
		return ""
	}
	parts := strings.Split(q.URL.Path, "/namespaces/")
	if len(parts) != 2 {
		return ""
	}
	segments := strings.Split(parts[1], "/")[1:] // resource, name, subresource
	if segments[0] == "events" || segments[0] == "leases" {
		return ""
	}
	what := segments[0]
	if len(segments) > 2 {
		what += "/" + segments[2]
	}
	return q.Method + " " + what
}

// mediaWrite names a call that changes something in LiveKit, empty for anything else.
func mediaWrite(q *http.Request) string {
	service, verb := path.Split(q.URL.Path)
	if !strings.HasPrefix(service, "/twirp/") || strings.HasPrefix(verb, "List") || strings.HasPrefix(verb, "Get") {
		return ""
	}
	return "LiveKit " + verb
}
