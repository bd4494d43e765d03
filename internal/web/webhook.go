// SPDX-License-Identifier: Apache-2.0

package web

import (
	"io"
	"net/http"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// WebhookPath is the same on every host: the engine knows of no tenants.
const WebhookPath = "/engine/webhook"

// maxWebhook bounds an event of the engine, in bytes. The longest is about a participant with many tracks.
const maxWebhook = 64 << 10

// webhook takes an event from an engine as a hint to look at a room. The signature says whose engine it is. It is checked
// before any of the body is read: only an engine of ours can make us hold one.
func (h *handler) webhook(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	authorization, tenants := r.Header.Get("Authorization"), h.Tenants.All()
	media := signerOf(tenants, authorization)
	if media == nil {
		h.refuseWebhook(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhook))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	room, err := media.Engine.Hint(authorization, body)
	if err != nil && !fault.Is(err, fault.KindInvalid) {
		h.refuseWebhook(w, r)
		return
	}
	// An event about no room is none of ours, and nothing is wrong with it.
	if t := tenantOf(tenants, media.Server, room); t != nil {
		h.Hint(t, room)
	}
	w.WriteHeader(http.StatusOK)
}

// refuseWebhook answers what no engine of ours has signed.
func (h *handler) refuseWebhook(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close") // The rest of its body is not read.
	w.WriteHeader(http.StatusUnauthorized)
	if !h.Refusals.Allow(h.TrustedProxies.Of(r)) {
		return
	}
	h.Log.Info("Webhook refused", "time", time.Now().UTC().Format(time.RFC3339Nano), "action", "webhook",
		"result", "It is not signed with the key of a media server", "status", http.StatusUnauthorized, "requestID", w.Header().Get("X-Request-Id"))
}

// signerOf finds the engine that made a signature, or nil.
func signerOf(tenants []*tenant.Tenant, authorization string) *tenant.Media {
	tried := map[engine.Server]bool{}
	for _, t := range tenants {
		for _, media := range t.Media {
			if authorization == "" || tried[media.Server] {
				continue
			}
			tried[media.Server] = true
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
