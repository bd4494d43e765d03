// SPDX-License-Identifier: Apache-2.0

// Package signalling carries WebSocket connections between browsers and a media server. It holds little memory for each,
// and bounds what a browser can make the media server keep: LiveKit reads messages of any length and takes compressed ones.
package signalling

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"convene.dev/convene/internal/outbound"
)

const (
	// maxMessage bounds a message of a browser, in bytes. The longest of an honest one is a session description: some
	// kilobytes for each track that it receives.
	maxMessage = 256 << 10
	// byteRate is how many bytes a second a browser may send for long, and byteBurst how many at once; what is beyond
	// waits.
	byteRate, byteBurst = 256 << 10, 1 << 20
	// bufferSize is for each direction. Nearly all messages are shorter.
	bufferSize = 4 << 10
	// writeTimeout is how long a connection waits for a side that does not read.
	writeTimeout = 30 * time.Second
	// headerTimeout bounds the media server's answer to the request for the connection.
	headerTimeout = 30 * time.Second
)

// requestHeaders are the headers of a browser that the media server gets. Sec-WebSocket-Extensions is not one of them: a
// compressed message of some kilobytes becomes one of gigabytes in the media server's memory.
var requestHeaders = []string{"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol", "User-Agent", "Accept-Language"}

// answerHeaders are the headers of the media server that a browser gets.
var answerHeaders = []string{"Upgrade", "Connection", "Sec-Websocket-Accept", "Sec-Websocket-Protocol"}

// RefusedError is a media server's answer other than a connection.
type RefusedError struct{ Status int }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the media server answers with HTTP status %d", e.Status)
}

// Relay connects browsers with media servers. It is safe for concurrent use.
type Relay struct{ transports *outbound.Transports }

// New makes a Relay.
func New() *Relay {
	return &Relay{transports: outbound.NewTransports(func(t *http.Transport) {
		t.ResponseHeaderTimeout = headerTimeout
		dial := t.DialContext
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return deadlineConn{conn}, nil
		}
	})}
}

// IsUpgrade reports whether a request asks for a WebSocket.
func IsUpgrade(r *http.Request) bool { return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") }

// Server is where a media server is.
type Server struct {
	// URL is the http or https URL of the connection.
	URL *url.URL
	// CABundle is PEM with the authorities that may have signed the server's certificate; empty means the machine's.
	CABundle string
}

// Connect connects a browser with a media server, and returns once they are connected. Until then nothing is written to w, so that
// an error can be answered; a RefusedError is the media server's. When the connection ends, closed is called.
func (r *Relay) Connect(w http.ResponseWriter, request *http.Request, to Server, forwardedFor string, closed func()) error {
	server, answer, err := r.dial(request, to, forwardedFor) //nolint:bodyclose // server is its body
	if err != nil {
		return err
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		return err
	}
	c := &connection{browser: deadlineConn{conn}, server: server, frames: frames{maxMessage: maxMessage}, pace: rate.NewLimiter(byteRate, byteBurst)}
	early, err := c.begin(answer, w.Header(), buffered)
	if err != nil {
		c.close()
		closed()
		return nil //nolint:nilerr // The browser has gone: an answer would not be read.
	}
	// The handler returns, and its memory with it: a connection lasts for hours.
	detach(conn)
	go func() {
		defer closed()
		c.run(early)
	}()
	return nil
}

// dial asks the media server for a connection.
func (r *Relay) dial(request *http.Request, to Server, forwardedFor string) (io.ReadWriteCloser, *http.Response, error) {
	out, err := http.NewRequestWithContext(request.Context(), http.MethodGet, to.URL.String(), http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range requestHeaders {
		if values := request.Header[name]; values != nil {
			out.Header[name] = values
		}
	}
	out.Header.Set("Connection", "Upgrade")
	out.Header.Set("Upgrade", "websocket")
	out.Header.Set("X-Forwarded-For", forwardedFor)
	answer, err := r.transports.For(to.CABundle).RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	server, ok := answer.Body.(io.ReadWriteCloser)
	switch {
	case answer.StatusCode != http.StatusSwitchingProtocols || !ok:
		err = &RefusedError{Status: answer.StatusCode}
	case answer.Header.Get("Sec-Websocket-Extensions") != "":
		err = errors.New("the media server uses an extension of WebSocket that it was not asked for")
	default:
		return server, answer, nil
	}
	_ = answer.Body.Close()
	return nil, nil, err
}

// connection is one browser's.
type connection struct {
	browser net.Conn
	server  io.ReadWriteCloser
	frames  frames
	pace    *rate.Limiter
}

// begin tells the browser that it is connected, and returns what it has sent already.
func (c *connection) begin(answer *http.Response, own http.Header, buffered *bufio.ReadWriter) (early []byte, err error) {
	header := own.Clone()
	for _, name := range answerHeaders {
		if values := answer.Header[name]; values != nil {
			header[name] = values
		}
	}
	if err := c.browser.SetDeadline(time.Time{}); err != nil { // That of the server is for requests.
		return nil, err
	}
	var text strings.Builder
	text.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = header.Write(&text) // A strings.Builder takes everything.
	text.WriteString("\r\n")
	if _, err := io.WriteString(c.browser, text.String()); err != nil {
		return nil, err
	}
	early = make([]byte, buffered.Reader.Buffered())
	_, err = io.ReadFull(buffered, early)
	return early, err
}

// run carries both directions until one of them ends.
func (c *connection) run(early []byte) {
	down := make(chan struct{})
	go func() {
		defer close(down)
		_ = copyPieces(c.server, c.browser)
		_ = c.browser.SetReadDeadline(time.Unix(1, 0)) // It ends the other direction.
	}()
	err := c.toServer(early)
	if err == nil {
		err = copyPieces(c.browser, writerFunc(c.toServer))
	}
	_ = c.server.Close()
	<-down
	if refused := (*closeError)(nil); errors.As(err, &refused) {
		_, _ = c.browser.Write(refused.closeFrame())
	}
	c.close()
}

func (c *connection) close() {
	_ = c.server.Close()
	_ = c.browser.Close()
}

func (c *connection) toServer(piece []byte) error {
	if err := c.frames.follow(piece); err != nil {
		return err
	}
	if err := c.pace.WaitN(context.Background(), len(piece)); err != nil { // No piece is longer than the burst.
		return err
	}
	_, err := c.server.Write(piece)
	return err
}

// copyPieces hands on what comes until it ends. A buffer of io.Copy would be eight times as long.
func copyPieces(from io.Reader, to io.Writer) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, bufferSize))
	return err
}

// writerFunc writes with a function that takes all or fails.
type writerFunc func([]byte) error

func (f writerFunc) Write(p []byte) (int, error) { return len(p), f(p) }

// deadlineConn does not wait for ever for the other side to read.
type deadlineConn struct{ net.Conn }

func (c deadlineConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// detach takes a connection out of the count of HTTP connections, where there is one.
func detach(conn net.Conn) {
	for conn != nil {
		if d, ok := conn.(interface{ Detach() }); ok {
			d.Detach()
		}
		wrapper, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return
		}
		conn = wrapper.NetConn()
	}
}
