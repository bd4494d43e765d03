// SPDX-License-Identifier: Apache-2.0

// Package web is what people's browsers talk to: the room page, the session endpoint that decides who may enter, and
// the way through to the engine's signalling. Everything that a page may do is decided here, so that a changed page
// gains nothing.
package web

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/moderation"
	"convene.dev/convene/internal/tenant"
)

// Tenants lists the tenants that are served.
type Tenants interface {
	All() []*tenant.Tenant
}

// Meetings finds meetings and changes what the pages may change. Its errors are faults.
type Meetings interface {
	admission.Meetings
	moderation.Meetings
	// End waits until the room is empty, for a few seconds at most.
	End(context.Context, *tenant.Tenant, conference.EndCommand) (conference.EndResult, error)
}

// Options of the pages. Tenants and Meetings are needed.
type Options struct {
	Tenants  Tenants
	Meetings Meetings
	// Admission admits participants, and Moderation carries out what presenters decide; nil means one for these pages alone.
	Admission  *admission.Service
	Moderation *moderation.Service
	// Hint is told that something happened in a room of a tenant, or nil.
	Hint func(engine.RoomName)
	// ClusterTime is the clock by which links, tokens and sessions begin and end, the same on every replica, and which pages
	// count down by; nil means time.Now.
	ClusterTime func() time.Time
	// Registerer of the metrics; nil means that none are registered.
	Registerer prometheus.Registerer
}

type handler struct {
	Options
	page   *page
	assets httpserver.Assets
	// scripts are for pages of other sites.
	scripts    httpserver.Assets
	calls      *limit.Buckets[caller]
	histories  *limit.Buckets[caller]
	states     *limit.Buckets[caller]
	acts       *limit.Buckets[caller]
	writes     *limit.Buckets[caller]
	data       *limit.Buckets[dataKey]
	entries    *limit.Buckets[netip.Prefix]
	openings   *limit.Buckets[visitors]
	tests      *limit.Buckets[visitors]
	admission  *admission.Service
	moderation *moderation.Service
	signals    *signals
	metrics    *metrics
	sameSite   *http.CrossOriginProtection
}

// New makes the routes of everything under a tenant's base path but for the API, and those of LiveKit's webhooks, which come
// to WebhookPaths on any host. It fails when the page was not built.
func New(o Options) (pages, webhooks *httpserver.Surface, err error) {
	dist, err := fs.Sub(embedded, "dist")
	if err != nil {
		return nil, nil, err
	}
	h, err := newHandler(o, dist)
	if err != nil {
		return nil, nil, err
	}
	return h.pages(), h.webhooks(), nil
}

func newHandler(o Options, dist fs.FS) (*handler, error) {
	if o.Tenants == nil || o.Meetings == nil {
		return nil, errors.New("web: tenants and meetings are needed")
	}
	if o.ClusterTime == nil {
		o.ClusterTime = time.Now
	}
	if o.Admission == nil {
		o.Admission = admission.New(o.Meetings)
	}
	if o.Moderation == nil {
		o.Moderation = moderation.New(o.Meetings, o.Admission)
	}
	if o.Hint == nil {
		o.Hint = func(engine.RoomName) {}
	}
	page, err := newPage(dist)
	if err != nil {
		return nil, err
	}
	assets, err := loadAssets(dist, "assets")
	if err != nil {
		return nil, err
	}
	scripts, err := loadAssets(dist, "js")
	if err != nil {
		return nil, err
	}
	return &handler{
		Options:   o,
		page:      page,
		assets:    assets,
		scripts:   scripts,
		calls:     limit.New[caller](maxCallers),
		histories: limit.New[caller](maxCallers),
		states:    limit.New[caller](maxCallers),
		acts:      limit.New[caller](maxCallers),
		writes:    limit.New[caller](maxCallers),
		data:      limit.New[dataKey](maxCallers),
		entries:   limit.New[netip.Prefix](maxEntrySites),
		openings:  limit.New[visitors](maxEntrySites),
		tests:     limit.New[visitors](maxEntrySites),
		admission: o.Admission, moderation: o.Moderation,
		signals:  newSignals(),
		metrics:  newMetrics(o.Registerer),
		sameSite: http.NewCrossOriginProtection(),
	}, nil
}
