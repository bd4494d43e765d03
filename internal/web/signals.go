// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// signalPaths are all that browsers need of the engine: the web socket, in two versions of its protocol, and the
// question why one was refused. Everything else, above all its API, stays out of reach.
var signalPaths = []string{"rtc", "rtc/v1", "rtc/validate", "rtc/v1/validate"}

const (
	tokenParameter = "access_token"
	// publishParameter would make the connection another identity, beside the one that we let in.
	publishParameter = "publish"
)

// signals carry signalling to the engine.
type signals struct {
	proxy *httputil.ReverseProxy
}

// upstream is where one request goes, decided before the proxy sees it.
type upstream struct {
	url  *url.URL
	fail func(error)
}

type upstreamKey struct{}

func newSignals() *signals {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.ResponseHeaderTimeout = 30 * time.Second
	return &signals{proxy: &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   rewrite,
		// The engine's own are for pages of other origins, and it sets no cookies of use here.
		ModifyResponse: func(r *http.Response) error {
			for name := range r.Header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
					r.Header.Del(name)
				}
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			r.Context().Value(upstreamKey{}).(upstream).fail(err)
		},
		// Its texts are about single connections that broke, as they do.
		ErrorLog: log.New(io.Discard, "", 0),
	}}
}

// rewrite sends on nothing of ours but the token that was checked.
func rewrite(p *httputil.ProxyRequest) {
	to := p.In.Context().Value(upstreamKey{}).(upstream)
	p.Out.URL = to.url
	p.Out.Host = ""
	p.Out.Header.Del("Cookie")
	p.Out.Header.Del("Authorization")
	p.SetXForwarded()
}

// reachable answers livekit-client, which asks whether a break of the network is over before it connects again.
func (h *handler) reachable(v *visit) error {
	writeNothing(v.w)
	return nil
}

// signal lets a page through to the engine. The engine cannot take a token back and lets one in for minutes after its
// end, so every connection is checked against the meeting as it is now.
func (h *handler) signal(v *visit) error {
	err := h.connect(v)
	if err != nil {
		h.metrics.signals.WithLabelValues(asRefusal(err).fault.Reason).Inc()
	}
	return err
}

func (h *handler) connect(v *visit) error {
	if !slices.Contains(signalPaths, v.rest) {
		return errNoSuchPage
	}
	query := v.r.URL.Query()
	token := query.Get(tokenParameter)
	leave, err := h.passDoor(v, token)
	if err != nil {
		return err
	}
	defer leave()
	to, err := signalURL(v.t.Media.Server, v.rest, token, query)
	if err != nil {
		return err
	}
	var failed error
	ctx := context.WithValue(v.r.Context(), upstreamKey{}, upstream{url: to, fail: func(err error) { failed = err }})
	h.metrics.signals.WithLabelValues("ok").Inc()
	h.metrics.connected.Inc()
	defer h.metrics.connected.Dec()
	h.signals.proxy.ServeHTTP(v.w, v.r.WithContext(ctx))
	if failed == nil || v.r.Context().Err() != nil {
		return nil
	}
	return ofEngine(fault.Unavailable("The media server cannot be reached").Because(failed))
}

// signalURL is the engine's. Of a parameter that is given twice the first counts, here and there.
func signalURL(server engine.Server, path, token string, query url.Values) (*url.URL, error) {
	u, err := url.Parse(server.URL)
	if err != nil {
		return nil, err
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + path
	query.Del(publishParameter)
	query.Set(tokenParameter, token)
	u.RawQuery = query.Encode()
	return u, nil
}

// passDoor checks who comes with a token, and counts them in.
func (h *handler) passDoor(v *visit, token string) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(v.r.Context(), requestTimeout)
	defer cancel()
	if v.t.Media == nil {
		return nil, errNoMedia
	}
	room, who, err := v.t.Media.Engine.Inspect(token)
	if err != nil {
		return nil, err
	}
	v.deed.who = who
	view, err := h.meetingOf(ctx, v.t, room)
	v.deed.room = view.Room
	switch {
	case err != nil:
		return nil, err
	case view.Ended:
		return nil, gone(view)
	case meeting.Listed(view.Removed, who):
		return nil, errRemoved
	}
	listed, err := h.listed(ctx, v.t, view)
	if err != nil {
		return nil, err
	}
	return h.doors.enter(room, who, listed, limitOf(v.t, view))
}

// meetingOf finds the tenant's meeting of a room. A room of another tenant on the same engine is none.
func (h *handler) meetingOf(ctx context.Context, t *tenant.Tenant, room engine.RoomName) (meeting.View, error) {
	config, uid, ok := meeting.ParseEngineRoom(room)
	if !ok || config != string(t.UID) {
		return meeting.View{}, fault.Denied("This access token is for another service; join the meeting again")
	}
	view, ok := h.Meetings.ByUID(ctx, t, uid)
	if !ok {
		return view, fault.Gone("This meeting has ended")
	}
	return view, nil
}
