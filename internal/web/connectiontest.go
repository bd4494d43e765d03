// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"
	"time"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// A test is a room of the media server for two minutes, with one picture in it. A class tests at once.
var (
	siteTests   = limit.Every(10*time.Second, 30)
	tenantTests = limit.Every(time.Second, 60)
)

var errTestOver = fault.Gone("The time of this test is over; test again")

// testAnswer is what a page needs to test a connection. Each token is of one connection.
type testAnswer struct {
	URL      string `json:"url"`
	Sender   string `json:"sender"`
	Receiver string `json:"receiver"`
}

// openTest gives a room in which a person can test their connection to one who may enter the meeting.
func (h *handler) openTest(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	entrant, password, err := h.identify(ctx, q)
	if err != nil {
		return nil, err
	}
	test, err := h.admission.OpenTest(ctx, q.Tenant, entrant, password, guard{h, q})
	if err != nil {
		return nil, err
	}
	answer := testAnswer{URL: engineURL(q.Tenant)}
	if answer.Sender, err = test.Media.Engine.Grant(test.Sender); err != nil {
		return nil, err
	}
	if answer.Receiver, err = test.Media.Engine.Grant(test.Receiver); err != nil {
		return nil, err
	}
	return httpserver.JSON{Status: http.StatusOK, Value: answer}, nil
}

// MayTest counts a test.
func (g guard) MayTest() error {
	h, q := g.h, g.q
	for _, c := range []struct {
		visitors
		limit.Rate
	}{
		{visitors{q.Tenant.UID, clientip.Site(q.From())}, siteTests},
		{visitors{tenant: q.Tenant.UID}, tenantTests},
	} {
		if wait := h.tests.Take(c.visitors, c.Rate, q.Start); wait > 0 {
			return httpserver.TooMany(wait, "Too many connections are being tested; wait")
		}
	}
	return nil
}

// passToTest lets a connection of a test through to the media server, as passDoor does with those of meetings.
func (h *handler) passToTest(t *tenant.Tenant, token string, room meeting.TestRoom) (to *tenant.Media, limited string, leave func(), err error) {
	switch {
	case room.ConfigUID != string(t.UID):
		return nil, "", nil, errOtherService
	case room.IsOver(h.ClusterTime()):
		return nil, "", nil, errTestOver
	}
	if to = t.MediaTagged(room.MediaServer); to == nil {
		return nil, "", nil, admission.ErrNoMedia
	}
	limited, err = to.Engine.Limit(token, admission.TestRights)
	return to, limited, func() {}, err
}
