// SPDX-License-Identifier: Apache-2.0

// Package signalling carries WebSocket connections between browsers and a media server. It holds little memory for each.
// It parses the messages of browsers and builds those that the media server gets, and bounds what one participant has the media server keep.
package signalling

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"

	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/outbound"
)

const (
	// maxMessage bounds a message of a browser, in bytes. The longest of an honest one is a session description.
	maxMessage = maxDescription + maxSmall
	// bufferSize is for each direction. Nearly all messages are shorter.
	bufferSize = 4 << 10
	// middleSize is how much of a message has to be there before there is memory for all of it.
	middleSize = 64 << 10
	// longShare is the share of the memory for long messages, which do not fit into a buffer, and longCost how many bytes one of their
	// bytes takes while they arrive, wait and go on. maxLong is how many bytes there may be where the memory has no limit.
	longShare, longCost, maxLong = 0.125, 2, 256 << 20
	// longTimeout is how long a message may take to arrive, the wait for memory included.
	longTimeout = 30 * time.Second
	// writeTimeout is how long a connection waits for a side that does not read.
	writeTimeout = 30 * time.Second
	// headerTimeout bounds the media server's answer to the request for the connection. The server ends a request after 15 s, and
	// livekit-client gives up then.
	headerTimeout = 12 * time.Second
)

// requestHeaders are the headers of a browser that the media server gets. Sec-WebSocket-Extensions is not one of them: a
// compressed message of some kilobytes becomes one of gigabytes in the media server's memory.
var requestHeaders = []string{"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol", "User-Agent", "Accept-Language"}

// answerHeaders are the headers of the media server that a browser gets.
var answerHeaders = []string{"Upgrade", "Connection", "Sec-Websocket-Accept", "Sec-Websocket-Protocol"}

// RefusedError is a media server's answer other than a connection. The status is all of it that a browser gets: whoever writes a MediaServer
// decides what answers, which may be a page for the browser to run, or something inside the cluster for somebody else to read.
type RefusedError struct{ Status int }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the media server answers with HTTP status %d", e.Status)
}

// Relay connects browsers with media servers. It is safe for concurrent use.
type Relay struct {
	transports *outbound.Transports
	ledger     ledger
	// middle has the bytes for messages up to middleSize, and of longer ones until so much has arrived. Long has the bytes for longer ones.
	middle, long *pool
	// names are the tracks of others that meetings and sites name.
	names *limit.Buckets[sharer]
}

// pool has bytes for messages. No site takes more than a quarter of them, and no meeting more than a half. It is safe for concurrent use.
type pool struct {
	sites *limit.Shares[netip.Prefix]
	// meetings hold the total as well: who waits for a share takes nothing of it.
	meetings *limit.Shares[string]
}

func newPool(bytes int) *pool {
	return &pool{sites: limit.NewShares[netip.Prefix](math.MaxInt, bytes/4), meetings: limit.NewShares[string](bytes, bytes/2)}
}

// take waits for so many bytes. Its error is the context's.
func (p *pool) take(ctx context.Context, of sharer, bytes int) (giveBack func(), err error) {
	toSite, err := p.sites.TakeN(ctx, of.site, bytes)
	if err != nil {
		return nil, err
	}
	toMeeting, err := p.meetings.TakeN(ctx, of.meeting, bytes)
	if err != nil {
		toSite()
		return nil, err
	}
	return func() {
		toMeeting()
		toSite()
	}, nil
}

// New makes a Relay.
func New() *Relay {
	bytes := limit.FitsMemory(longShare, longCost, maxLong)
	return &Relay{
		// What one site may take holds the longest message.
		middle: newPool(max(bytes/4, 4*middleSize)), long: newPool(max(bytes/4*3, 4*maxMessage)),
		names: limit.New[sharer](maxSharers), ledger: ledger{all: map[string]*spending{}}, transports: newTransports(),
	}
}

func newTransports() *outbound.Transports {
	return outbound.NewTransports(func(t *http.Transport) {
		t.ResponseHeaderTimeout = headerTimeout
		dial := t.DialContext
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return deadlineConn{conn}, nil
		}
	})
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

// Browser describes the browser that connects.
type Browser struct {
	// Participant is the same for all connections of a participant, and for no other's. Meeting is so for those of a meeting.
	Participant, Meeting string
	// Resumes is true where the browser asks LiveKit to go on with what it has of the participant.
	Resumes bool
	// Address is where the browser is, and Site what owns the address.
	Address netip.Addr
	Site    netip.Prefix
}

// Connect connects a browser with a media server, and returns once they are connected. Until then nothing is written to w, so that
// an error can be answered; a RefusedError is the media server's. When the connection ends, closed is called, with the reason where what
// the browser sent is why.
func (r *Relay) Connect(w http.ResponseWriter, request *http.Request, to Server, from Browser, closed func(refused error)) error {
	server, answer, err := r.dial(request, to, from.Address.String()) //nolint:bodyclose // server is its body
	if err != nil {
		return err
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		return err
	}
	spent, left := r.ledger.open(from.Participant, from.Resumes)
	ended := func(refused error) {
		left()
		closed(refused)
	}
	c := &connection{
		browser: deadlineConn{conn}, server: server, middle: r.middle, long: r.long,
		spent: account{spending: spent, shared: r.names, sharer: sharer{from.Meeting, from.Site}},
	}
	early, err := c.begin(answer, w.Header(), buffered)
	if err != nil {
		c.close()
		ended(nil)
		return nil //nolint:nilerr // The browser has gone: an answer would not be read.
	}
	// The handler returns, and its memory with it: a connection lasts for hours.
	detach(conn)
	go func() {
		ended(c.run(early))
	}()
	return nil
}

// Ask asks a media server why it refused a connection. What the media server answers is a RefusedError.
func (r *Relay) Ask(request *http.Request, to Server, from Browser) error {
	answer, err := r.send(request, to, nil, from.Address.String())
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	return &RefusedError{Status: statusOf(answer)}
}

// statusOf returns an answer's status if it can be one of LiveKit's, and 502 otherwise.
func statusOf(answer *http.Response) int {
	if status := answer.StatusCode; status == http.StatusOK || status >= 400 && status < 600 {
		return status
	}
	return http.StatusBadGateway
}

// dial asks the media server for a connection.
func (r *Relay) dial(request *http.Request, to Server, forwardedFor string) (io.ReadWriteCloser, *http.Response, error) {
	answer, err := r.send(request, to, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}, forwardedFor)
	if err != nil {
		return nil, nil, err
	}
	server, ok := answer.Body.(io.ReadWriteCloser)
	switch {
	case answer.StatusCode != http.StatusSwitchingProtocols || !ok:
		err = &RefusedError{Status: statusOf(answer)}
	case answer.Header.Get("Sec-Websocket-Extensions") != "":
		err = errors.New("the media server uses an extension of WebSocket that it was not asked for")
	default:
		return server, answer, nil
	}
	_ = answer.Body.Close()
	return nil, nil, err
}

// send sends a browser's request on, with nothing of it but the headers for the media server, and with some more headers.
func (r *Relay) send(request *http.Request, to Server, header http.Header, forwardedFor string) (*http.Response, error) {
	out, err := http.NewRequestWithContext(request.Context(), http.MethodGet, to.URL.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	maps.Copy(out.Header, header)
	for _, name := range requestHeaders {
		if values := request.Header[name]; values != nil {
			out.Header[name] = values
		}
	}
	out.Header.Set("X-Forwarded-For", forwardedFor)
	return r.transports.For(to.CABundle).RoundTrip(out)
}

// connection is one browser's.
type connection struct {
	browser      net.Conn
	server       io.ReadWriteCloser
	spent        account
	middle, long *pool
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

// run carries both directions until one of them ends, and returns why where what the browser sent is refused.
func (c *connection) run(early []byte) error {
	ctx, cancel := context.WithCancel(context.Background())
	down := make(chan struct{})
	go func() {
		defer close(down)
		_ = copyPieces(c.server, counted{c.browser, &c.spent.heard})
		cancel() // It ends the other direction.
		_ = c.browser.SetReadDeadline(time.Unix(1, 0))
	}()
	err := c.up(ctx, io.MultiReader(bytes.NewReader(early), c.browser))
	cancel()
	_ = c.server.Close()
	<-down
	refused := closeErrorOf(err)
	if refused == nil {
		c.close()
		return nil
	}
	_, _ = c.browser.Write(refused.lastFrames())
	c.close()
	return refused
}

func (c *connection) close() {
	_ = c.server.Close()
	_ = c.browser.Close()
}

// up carries what a browser sends, until it ends or is refused.
func (c *connection) up(ctx context.Context, from io.Reader) error {
	m := newMessages(from)
	m.hurry = c.hurry
	m.take = func(bytes int) (func(), error) { return c.take(ctx, bytes) }
	m.control = func(kind ws.OpCode, payload []byte) error {
		if err := c.spend(ctx, payload); err != nil {
			return err
		}
		return c.toServer(kind, payload)
	}
	for {
		message, done, err := m.next()
		if err != nil {
			return err
		}
		err = c.passOn(ctx, message)
		if done(); err != nil {
			return err
		}
	}
}

func (c *connection) passOn(ctx context.Context, message []byte) error {
	if err := c.spend(ctx, message); err != nil {
		return err
	}
	built, err := request(ctx, message, c.spent)
	if err != nil || built == nil {
		return err
	}
	return c.toServer(ws.OpBinary, built)
}

// spend waits until a message may be passed on.
func (c *connection) spend(ctx context.Context, message []byte) error {
	if err := c.spent.take(ctx, ofMessages, 1); err != nil {
		return err
	}
	return c.spent.take(ctx, ofBytes, len(message))
}

func (c *connection) toServer(kind ws.OpCode, payload []byte) error {
	_, err := c.server.Write(clientFrame(kind, payload))
	return err
}

// take takes memory for a long message, and waits while others have it.
func (c *connection) take(ctx context.Context, bytes int) (giveBack func(), err error) {
	within, cancel := context.WithTimeout(ctx, longTimeout)
	defer cancel()
	from := c.long
	if bytes <= middleSize {
		from = c.middle
	}
	if giveBack, err = from.take(within, c.spent.sharer, bytes); err != nil && ctx.Err() == nil {
		err = errManyLong
	}
	return giveBack, err
}

// hurry closes the connection of a browser that does not send the rest of a long message.
func (c *connection) hurry() (stop func()) {
	slow := time.AfterFunc(longTimeout, func() { _ = c.browser.Close() })
	return func() { slow.Stop() }
}

var errManyLong = &closeError{statusTryAgainLater, "there are too many long messages; try again"}

// copyPieces hands on what comes until it ends. A buffer of io.Copy would be eight times as long.
func copyPieces(from io.Reader, to io.Writer) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, bufferSize))
	return err
}

// counted counts the bytes that are written.
type counted struct {
	io.Writer
	bytes *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.Writer.Write(p)
}

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
	if d, ok := conn.(interface{ Detach() }); ok {
		d.Detach()
	}
}
