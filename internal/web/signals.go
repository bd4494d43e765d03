// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/signalling"
	"convene.dev/convene/internal/tenant"
)

// signalPaths are all that browsers need of the engine: the web socket, and the question why one was refused. Everything else,
// above all its API, stays out of reach. Without rtc/v1, livekit-client takes two peer connections
// (docs/decisions/0080-two-peer-connections.md).
var signalPaths = []string{"rtc", "rtc/validate"}

// signals carry signalling to the engine.
type signals struct {
	relay *signalling.Relay
	// places are for connections, and their owners sites: no site takes all of them.
	places *limit.Shares[netip.Prefix]
	// connects are the connections that an identity and a site have asked for.
	connects *limit.Buckets[connector]
}

// connector is an identity of a tenant, or a site.
type connector struct {
	tenant   types.UID
	identity engine.Identity
	site     netip.Prefix
}

const (
	// signalMemory is what one connection takes at most, in bytes, and signalShare the share of the memory for all of
	// them. A quarter is for HTTP connections, a quarter for all else.
	signalMemory, signalShare = 32 << 10, 0.5
	// maxSignals is how many there may be where the memory has no limit, and maxConnectors how many are counted.
	maxSignals, maxConnectors = 1 << 15, 1 << 15
)

// A connection takes milliseconds of LiveKit's processor. A browser needs few, but all of a school come back at once when
// its network does.
var (
	identityConnects = limit.Every(2*time.Second, 20)
	siteConnects     = limit.Every(50*time.Millisecond, 1000)
)

var errManyConnections = fault.Unavailable("This service has as many connections as it can hold; this page keeps trying")

func newSignals() *signals {
	places := limit.FitsMemory(signalShare, signalMemory, maxSignals)
	return &signals{relay: signalling.New(), places: limit.NewShares[netip.Prefix](places, (places+1)/2), connects: limit.New[connector](maxConnectors)}
}

// reachable answers livekit-client, which asks whether a break of the network is over before it connects again.
func (h *handler) reachable(*httpserver.Request) (httpserver.Answer, error) {
	return httpserver.NoContent, nil
}

// signal lets a page through to the engine. The engine cannot take a token back and lets one in for minutes after its
// end, so every connection is checked against the meeting as it is now.
func (h *handler) signal(q *httpserver.Request) (httpserver.Answer, error) {
	err := h.connect(q)
	if err != nil {
		h.metrics.signals.WithLabelValues(reasonOf(err)).Inc()
	}
	return nil, err
}

func (h *handler) connect(q *httpserver.Request) error {
	path := q.HTTP.PathValue("path")
	if !slices.Contains(signalPaths, path) {
		return errNoSuchPage
	}
	query := q.HTTP.URL.Query()
	token := query.Get(signalling.TokenParameter)
	bearer, err := inspect(q.Tenant, token)
	if err != nil {
		return err
	}
	media, limited, leave, err := h.passDoor(q, bearer, token)
	if err != nil {
		return err
	}
	to, resumes, err := signalTo(media.Server, path, limited, query)
	if err != nil {
		leave()
		return invalidSignal(err)
	}
	from := browserOf(q, bearer, resumes)
	if signalling.IsUpgrade(q.HTTP) {
		return h.relay(q, to, from, leave)
	}
	defer leave()
	return h.notConnected(q, h.signals.relay.Ask(q.HTTP, to, from))
}

// notConnected is the answer where there is no connection with the media server.
func (h *handler) notConnected(q *httpserver.Request, err error) error {
	refused := (*signalling.RefusedError)(nil)
	switch {
	case errors.As(err, &refused):
		h.metrics.signals.WithLabelValues("ok").Inc() // It was reached, and the page asks it why.
		q.Header().Set("Content-Type", "text/plain; charset=utf-8")
		q.WriteHeader(refused.Status)
		_, _ = io.WriteString(q, http.StatusText(refused.Status))
	case q.HTTP.Context().Err() == nil:
		return admission.OfEngine(fault.Unavailable("The media server cannot be reached").Because(err))
	}
	return nil
}

func browserOf(q *httpserver.Request, b engine.Bearer, resumes bool) signalling.Browser {
	meeting := string(q.Tenant.UID) + "/" + string(b.Room)
	return signalling.Browser{
		Participant: meeting + "/" + string(b.Identity), Meeting: meeting,
		Resumes: resumes, Address: q.From(), Site: clientip.Site(q.From()),
	}
}

// relay connects a page with the engine; leave is called when the connection ends.
func (h *handler) relay(q *httpserver.Request, to signalling.Server, from signalling.Browser, leave func()) error {
	giveBack, ok := h.signals.places.Try(from.Site)
	if !ok {
		leave()
		return errManyConnections
	}
	h.metrics.connected.Inc()
	closed := func(refused error) {
		if refused != nil {
			h.metrics.refused.Inc()
		}
		h.metrics.connected.Dec()
		giveBack()
		leave()
	}
	err := h.signals.relay.Connect(q, q.HTTP, to, from, closed)
	if err == nil {
		h.metrics.signals.WithLabelValues("ok").Inc()
		return nil
	}
	closed(nil)
	return h.notConnected(q, err)
}

// countConnect refuses those who connect again and again.
func (h *handler) countConnect(q *httpserver.Request, who engine.Identity) error {
	for _, c := range []struct {
		connector
		limit.Rate
	}{
		{connector{tenant: q.Tenant.UID, identity: who}, identityConnects},
		{connector{site: clientip.Site(q.From())}, siteConnects},
	} {
		if wait := h.signals.connects.Take(c.connector, c.Rate, q.Start); wait > 0 {
			return httpserver.TooMany(wait, "There were too many connections; wait")
		}
	}
	return nil
}

// invalidSignal is the answer to a request for a connection that is not passed on.
func invalidSignal(err error) error {
	if invalid := (*signalling.InvalidError)(nil); errors.As(err, &invalid) {
		return fault.Invalid("", "This request for a connection is not valid: %s; reload the page", invalid.Reason)
	}
	return err
}

// signalTo is where signalling goes, and whether it resumes a connection.
func signalTo(server engine.Server, path, token string, given url.Values) (to signalling.Server, resumes bool, err error) {
	u, err := url.Parse(server.URL)
	if err != nil {
		return to, false, err
	}
	query, resumes, err := signalling.Query(given)
	if err != nil {
		return to, false, err
	}
	query.Set(signalling.TokenParameter, token)
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + path
	u.RawQuery = query.Encode()
	return signalling.Server{URL: u, CABundle: server.CABundle}, resumes, nil
}

// passDoor checks who comes with a token, and counts them in. It says to which media server they go, and with which token: what
// was decided since theirs was made counts.
func (h *handler) passDoor(q *httpserver.Request, bearer engine.Bearer, token string) (to *tenant.Media, limited string, leave func(), err error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	q.Record.Identity = bearer.Identity
	if err := h.countConnect(q, bearer.Identity); err != nil {
		return nil, "", nil, err
	}
	if room, ok := meeting.ParseTestRoom(bearer.Room); ok {
		return h.passToTest(q.Tenant, token, room)
	}
	view, err := h.meetingOf(ctx, q.Tenant, bearer.Room)
	q.Record.Room = view.Room
	decided := view.DecisionOn(bearer.Username, bearer.Identity)
	switch {
	case err != nil:
		return nil, "", nil, err
	case view.Ended:
		return nil, "", nil, withRedirect(admission.ErrEnded, view)
	case decided.Removed:
		return nil, "", nil, admission.ErrRemoved
	}
	if to = q.Tenant.MediaAt(view.MediaServer); to == nil {
		return nil, "", nil, admission.ErrNoMedia
	}
	// The meeting may have moved to a media server with another key: the page then asks for another token.
	if limited, err = to.Engine.Limit(token, view.Rights(decided, bearer.Granted)); err != nil {
		return nil, "", nil, err
	}
	site := clientip.Site(q.From())
	if meeting.IsWaitingRoom(bearer.Room) {
		leave, err = h.admission.TakeWaitingPlace(q.Tenant, view, bearer.Identity, site)
	} else {
		leave, err = h.admission.TakePlace(ctx, q.Tenant, view, bearer, site)
	}
	return to, limited, leave, err
}

// inspect verifies an access token with the key that it names, of the tenant's media servers.
func inspect(t *tenant.Tenant, token string) (bearer engine.Bearer, err error) {
	if len(t.Media) == 0 {
		return bearer, admission.ErrNoMedia
	}
	key := t.Media[0].Engine.KeyOf(token)
	err = errOtherService
	for _, signer := range t.Media {
		if signer.Server.Key != key {
			continue
		}
		if bearer, err = signer.Engine.Inspect(token); err == nil {
			break
		}
	}
	return bearer, err
}

var errOtherService = fault.Denied("This access token is for another service; join the meeting again")

// meetingOf finds the tenant's meeting of a room. A room of another tenant on the same engine is none. An access token has no name of a room, so
// a meeting that this replica does not know is not looked for: the page asks with its session.
func (h *handler) meetingOf(ctx context.Context, t *tenant.Tenant, room engine.RoomName) (meeting.View, error) {
	config, uid, ok := meeting.ParseEngineRoom(room)
	if !ok || config != string(t.UID) {
		return meeting.View{}, errOtherService
	}
	return h.Meetings.Known(ctx, t, uid, "")
}
