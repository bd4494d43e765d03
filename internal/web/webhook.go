// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// WebhookPaths take LiveKit's webhooks, on every host: LiveKit has no tenants. The second path is the name of before, which is in the
// configuration of running LiveKits.
var WebhookPaths = []string{"/media-server/webhook", "/engine/webhook"}

// maxWebhook bounds an event of the engine, in bytes. The longest is about a participant with many tracks.
const maxWebhook = 64 << 10

var errNotSigned = fault.Unauthenticated("The webhook is not signed with the key of a media server; check the API key in LiveKit's configuration")

// webhooks is where engines tell of events.
func (h *handler) webhooks() *httpserver.Surface {
	surface := &httpserver.Surface{Name: "Webhook", AnyHost: true, Begin: begin, Refuse: h.refuse}
	for _, path := range WebhookPaths {
		surface.Routes = append(surface.Routes, httpserver.Route{Method: http.MethodPost, Path: path, Action: "webhook", Serve: h.webhook})
	}
	return surface
}

// webhook takes an event from an engine as a hint to look at a room. The signature says whose engine it is. It is checked
// before any of the body is read: only an engine of ours can make us hold one.
func (h *handler) webhook(q *httpserver.Request) (httpserver.Answer, error) {
	authorization, tenants := q.HTTP.Header.Get("Authorization"), h.Tenants.All()
	media := signerOf(tenants, authorization)
	if media == nil {
		q.Header().Set("Connection", "close") // The rest of its body is not read.
		return nil, errNotSigned
	}
	body, err := q.Body(maxWebhook)
	if err != nil {
		return nil, err
	}
	room, err := media.Engine.Hint(authorization, body)
	if err != nil && !fault.Is(err, fault.KindInvalid) {
		return nil, errNotSigned.Because(err)
	}
	// An event about no room, or about the test of a connection, is of no use, and nothing is wrong with it.
	if tenantOf(tenants, media.Server, room) != nil && !meeting.IsTestRoom(room) {
		h.Hint(room)
	}
	return httpserver.Bytes{}, nil
}

// signerOf finds the engine that made a signature, or nil. Only engines with the key that the signature names are tried.
func signerOf(tenants []*tenant.Tenant, authorization string) *tenant.Media {
	key, tried := "", map[engine.Engine]bool{}
	for _, t := range tenants {
		for _, media := range t.Media {
			if key == "" {
				if key = media.Engine.KeyOf(authorization); key == "" {
					return nil
				}
			}
			if media.Server.Key != key || tried[media.Engine] {
				continue
			}
			tried[media.Engine] = true
			if media.Engine.Signed(authorization) {
				return media
			}
		}
	}
	return nil
}

// tenantOf finds whose room it is, among those who use that engine: one engine has no say about another's rooms.
func tenantOf(tenants []*tenant.Tenant, server engine.Server, room engine.RoomName) *tenant.Tenant {
	config, _, ok := meeting.ParseEngineRoom(room)
	if !ok {
		return nil
	}
	for _, t := range tenants {
		if string(t.UID) == config && t.UsesServer(server) {
			return t
		}
	}
	return nil
}
