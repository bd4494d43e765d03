// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// The floor is a handler that does nothing but read the body and write a fixed answer; for token and join one that also
// signs. Compare cpu-ns/op: it is what a request costs the process, with a client that costs next to nothing. Keep
// token and join below 1.5 times their floor, stats below twice its own.
//
//	go test -run '^$' -bench . ./internal/httpapi

func BenchmarkFloor(b *testing.B) {
	wire(b, http.HandlerFunc(bare), rawRequest(http.MethodGet, "stats", ""))
}

func BenchmarkStats(b *testing.B) {
	wire(b, benchAPI(b), rawRequest(http.MethodGet, "stats", ""))
}

const (
	benchToken = `{"username":"ada","password":"x","presenter":"true","expire":"1h"}`
	benchJoin  = `{"room":"stand-up","roomPassword":false,"name":"Ada Lovelace","avatar":false,"audio":"false","video":"false",` +
		`"screen":"false","chat":"true","hide":"false","notify":"true","duration":"unlimited"}`
)

func BenchmarkTokenFloor(b *testing.B) {
	one := testTenant(v1alpha1.VariantA)
	wire(b, signing(func() (string, error) {
		return one.Signer.IssueToken(credential.TokenRequest{Username: "ada", Presenter: true, Lifetime: time.Hour}, time.Now())
	}), rawRequest(http.MethodPost, "token", benchToken))
}

func BenchmarkToken(b *testing.B) {
	wire(b, benchAPI(b), rawRequest(http.MethodPost, "token", benchToken))
}

func BenchmarkJoinFloor(b *testing.B) {
	one := testTenant(v1alpha1.VariantA)
	ticket := credential.Ticket{Room: "stand-up", Lineage: "lineage-stand-up", JoinOptions: meeting.JoinOptions{Name: "Ada Lovelace", Chat: true, Notify: true}}
	wire(b, signing(func() (string, error) { return one.Signer.IssueTicket(ticket, nil, time.Hour, time.Now()) }),
		rawRequest(http.MethodPost, "join", benchJoin))
}

func BenchmarkJoin(b *testing.B) {
	wire(b, benchAPI(b), rawRequest(http.MethodPost, "join", benchJoin))
}

// BenchmarkListing is 1,000 meetings of 10 participants, as the API writes them and as encoding/json would.
func BenchmarkListing(b *testing.B) {
	live := manyMeetings(1000, 10)
	b.Run("streamed", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if err := (meetingList{live: each(live)}).write(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			var answer struct {
				Meetings []meetingBody `json:"meetings"`
			}
			for i := range live {
				answer.Meetings = append(answer.Meetings, meetingBodyOf(&live[i]))
			}
			if err := json.NewEncoder(io.Discard).Encode(answer); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// each gives the meetings one after the other, as the directory does.
func each(live []meeting.View) iter.Seq[*meeting.View] {
	return func(yield func(*meeting.View) bool) {
		for i := range live {
			if !yield(&live[i]) {
				return
			}
		}
	}
}

// existing answers joins with a meeting that is there, as a cache would.
type existing struct {
	*fakeMeetings
	view meeting.View
}

func (e existing) Join(context.Context, *tenant.Tenant, conference.JoinCommand) (meeting.View, error) {
	return e.view, nil
}

var hundredBytes = []byte(fmt.Sprintf(`{"success":true,"filler":%q}`+"\n", make([]byte, 17)))

func bare(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(hundredBytes)
}

func signing(sign func() (string, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		signed, err := sign()
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"token":"`+signed+`"}`)
	})
}

func benchAPI(b *testing.B) http.Handler {
	w := newWorld(b, testTenant(v1alpha1.VariantA))
	w.meetings.reset("stand-up")
	w.options.Meetings = existing{w.meetings, w.meetings.live[0]}
	w.router.Now = time.Now
	w.options.Registerer = prometheus.NewRegistry()
	w.router.Log = logr.Discard()
	return w.handler()
}

// BenchmarkHandler is what the API alone costs, without net/http around it.
func BenchmarkHandler(b *testing.B) {
	h := benchAPI(b)
	for _, tc := range []struct{ method, path, body string }{
		{http.MethodGet, "stats", ""}, {http.MethodPost, "token", benchToken}, {http.MethodPost, "join", benchJoin},
	} {
		b.Run(tc.path, func(b *testing.B) {
			r := httptest.NewRequestWithContext(b.Context(), tc.method, "/video/api/v1/"+tc.path, nil)
			r.Host, r.ContentLength = host, int64(len(tc.body))
			r.Header.Set("Authorization", rightKey)
			body := strings.NewReader(tc.body)
			if tc.body != "" {
				r.Body = readCloser{body}
			}
			to := forgetful{http.Header{}}
			b.ReportAllocs()
			for range b.N {
				body.Reset(tc.body)
				clear(to.header)
				h.ServeHTTP(to, r)
			}
		})
	}
}

// forgetful forgets what is written.
type forgetful struct{ header http.Header }

func (f forgetful) Header() http.Header       { return f.header }
func (forgetful) Write(b []byte) (int, error) { return len(b), nil }
func (forgetful) WriteHeader(int)             {}

func rawRequest(method, path, body string) string {
	return fmt.Sprintf("%s /video/api/v1/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, host, rightKey, len(body), body)
}

// wire sends the same request again and again over one connection, and reports what the process spent on each.
func wire(b *testing.B, h http.Handler, request string) {
	server := httptest.NewServer(h)
	defer server.Close()
	conn := dial(b, server)
	reader := bufio.NewReader(conn)
	raw := []byte(request)
	once := func() {
		if _, err := conn.Write(raw); err != nil {
			b.Fatal(err)
		}
		answer, err := http.ReadResponse(reader, nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			b.Fatal(answer, err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			b.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	once()
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime(b)
	for range b.N {
		once()
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

func cpuTime(b *testing.B) int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
