// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// encryptedServer starts a gateway with TLS and returns its address.
func encryptedServer(t *testing.T, o Options) string {
	t.Helper()
	o.CertFile, o.KeyFile = filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	testkit.Certificate(t, o.CertFile, o.KeyFile, 1)
	return served(t, o, nil)
}

// dialEncrypted connects as a browser does, which asks for HTTP/2.
func dialEncrypted(address string) (net.Conn, error) {
	return tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
}

// TestAPlaceIsWhatAConnectionTakes: however a client holds a connection, with TLS or without, the connection takes no more than
// the memory that it is counted for. The clients' own memory counts here as well.
func TestAPlaceIsWhatAConnectionTakes(t *testing.T) {
	file := make([]byte, 8<<20) // It is there once for all, as the page's files are.
	o := Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/x":
			return
		case r.Method == http.MethodGet:
			_, _ = w.Write(file)
			return
		}
		q := &Request{HTTP: r, ResponseWriter: w}
		if _, err := q.Body(16 << 10); err == nil {
			<-r.Context().Done() // As if the cluster did not answer.
		}
	})}
	plain, encrypted := served(t, o, nil), encryptedServer(t, o)

	const get, post, connections = "GET / HTTP/1.1\r\nHost: x\r\n", "POST / HTTP/1.1\r\nHost: x\r\n", 30
	var long, many strings.Builder
	for i := range 16 {
		fmt.Fprintf(&long, "X-%02d: %s\r\n", i, strings.Repeat("b", 1000))
	}
	for i := range 6000 {
		fmt.Fprintf(&many, "%c%c%c:\n", 'a'+i%26, 'a'+i/26%26, 'a'+i/26/26)
	}
	trailers := strings.ReplaceAll(many.String()[:5*650], "\n", "\r\n")
	body := strings.Repeat("x", 16<<10-1)
	for _, tc := range []struct{ reason, sends string }{
		{"nothing", ""},
		{"long headers without an end", get + long.String()},
		{"as many headers as there may be", get + many.String()[:97*5] + long.String()[:500]},
		{"more headers", get + many.String()},
		{"more headers, behind another request", "GET /x HTTP/1.1\r\nHost: x\r\n\r\n" + get + many.String()[:3900]},
		{"more headers, behind another request's body", "GET /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx" + get + many.String()[:3900]},
		{"the same header", get + strings.Repeat("A:\n", 6000)},
		{"trailers, and an answer that nobody reads", get + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + trailers + "\r\n"},
		{"trailers of a body that waits for its answer", post + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + trailers + "\r\n"},
		{"a body without an end", post + long.String() + "Content-Length: 16384\r\n\r\n" + body},
		{"a body in pieces", post + long.String() + "Transfer-Encoding: chunked\r\n\r\n3fff\r\n" + body + "\r\n"},
		{"an answer that nobody reads", get + "\r\n"},
		{"answers that nobody reads", strings.Repeat(get+"\r\n", 100)},
	} {
		for _, with := range []struct {
			name string
			most int64
			dial func() (net.Conn, error)
		}{
			{"plain", connectionMemory, func() (net.Conn, error) { return net.Dial("tcp", plain) }},
			{"TLS", encryptedMemory, func() (net.Conn, error) { return dialEncrypted(encrypted) }},
		} {
			if takes := heldBy(t, connections, with.dial, tc.sends); takes > with.most {
				t.Errorf("%s, %s: %d bytes", tc.reason, with.name, takes)
			}
		}
	}
	// The longest hello that crypto/tls takes, but for its last byte.
	hello := "\x01\x00\xff\x00" + strings.Repeat("x", 0xff00-1)
	var records strings.Builder
	for piece := range slices.Chunk([]byte(hello), 16<<10) {
		records.WriteString("\x16\x03\x01")
		_ = binary.Write(&records, binary.BigEndian, uint16(len(piece)))
		records.Write(piece)
	}
	if takes := heldBy(t, connections, func() (net.Conn, error) { return net.Dial("tcp", encrypted) }, records.String()); takes > encryptedMemory {
		t.Errorf("a hello without an end: %d bytes", takes)
	}
}

// heldBy is how much memory a connection takes that sends this and then waits.
func heldBy(t *testing.T, connections int64, dial func() (net.Conn, error), sends string) int64 {
	t.Helper()
	before := held(t)
	for range connections {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, sends) // The server may have closed it.
	}
	return (held(t) - before) / connections
}

// held is the memory in use without garbage, in bytes, once it does not change any more.
func held(t *testing.T) (now int64) {
	t.Helper()
	same := 0
	testkit.Eventually(t, patience, func() error {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		last := now
		now = int64(m.HeapAlloc + m.StackInuse)
		if same++; max(now-last, last-now) > 16<<10 {
			same = 0
		}
		if same < 3 {
			return fmt.Errorf("the memory in use changes still: it was %d and is %d bytes", last, now)
		}
		return nil
	})
	return now
}

// TestHeadersOfOneRequestAtATime: lines of a body are no headers. A connection on which many were read ends with the answer.
func TestHeadersOfOneRequestAtATime(t *testing.T) {
	o := Options{}
	plain, encrypted := served(t, o, nil), encryptedServer(t, o)
	lines := func(n int) string { return strings.Repeat("X-A: b\r\n", n) }
	body := strings.Repeat("\n", 4000)
	for _, tc := range []struct {
		reason, sends string
		want, times   int
	}{
		{"as many lines as there may be", "GET / HTTP/1.1\r\nHost: x\r\n" + lines(maxHeaderLines-2) + "\r\n", 200, 3},
		{"one more", "GET / HTTP/1.1\r\nHost: x\r\n" + lines(maxHeaderLines-1) + "\r\n", 431, 1},
		{"a body of lines", "POST / HTTP/1.1\r\nHost: x\r\n" + lines(90) + "Content-Length: 90\r\n\r\n" + body[:90], 200, 3},
		{"a body of many lines", "POST / HTTP/1.1\r\nHost: x\r\n" + lines(90) + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body), 200, 1},
		{"a long body of lines", "POST / HTTP/1.1\r\nHost: x\r\n" + lines(90) + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 5*len(body), strings.Repeat(body, 5)), 200, 1},
		{"a body of lines in pieces", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body), 200, 1},
	} {
		for name, dial := range map[string]func() (net.Conn, error){
			"plain": func() (net.Conn, error) { return net.Dial("tcp", plain) },
			"TLS":   func() (net.Conn, error) { return dialEncrypted(encrypted) },
		} {
			conn, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(patience))
			answers := bufio.NewReader(conn)
			for again := range tc.times {
				_, _ = io.WriteString(conn, tc.sends)
				response, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatalf("%s, %s, time %d: %v", tc.reason, name, again, err)
				}
				text, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if response.StatusCode != tc.want {
					t.Errorf("%s, %s, time %d: %d %s", tc.reason, name, again, response.StatusCode, text)
				}
			}
			_ = conn.Close()
		}
	}
}
