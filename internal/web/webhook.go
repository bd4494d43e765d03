// SPDX-License-Identifier: Apache-2.0

package web

import (
	"io"
	"net/http"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/requestid"
	"convene.dev/convene/internal/tenant"
)

// maxWebhook bounds an event of the engine, in bytes.
const maxWebhook = 1 << 20

// webhook takes an event from an engine as a hint to look at a room. Whose engine it is, its signature says.
func (h *handler) webhook(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	authorization := r.Header.Get("Authorization")
	if authorization == "" {
		h.refuseWebhook(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhook))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	tenants := h.Tenants.All()
	server, room, ok := h.signedBy(tenants, authorization, body)
	if !ok {
		h.refuseWebhook(w)
		return
	}
	if t := tenantOf(tenants, server, room); t != nil {
		h.Hint(t, room)
	}
	w.WriteHeader(http.StatusOK)
}

// refuseWebhook answers what no engine of ours has signed.
func (h *handler) refuseWebhook(w http.ResponseWriter) {
	h.Log.Info("Webhook refused", "time", h.Now().UTC().Format(time.RFC3339Nano), "action", "webhook",
		"result", "It is not signed with the key of a media server", "status", http.StatusUnauthorized, "requestID", w.Header().Get(requestid.Header))
	w.WriteHeader(http.StatusUnauthorized)
}

// signedBy finds the engine that signed an event. Room is empty where the event is about none.
func (h *handler) signedBy(tenants []*tenant.Tenant, authorization string, body []byte) (engine.Server, engine.RoomName, bool) {
	tried := map[engine.Server]bool{}
	for _, t := range tenants {
		if t.Media == nil || tried[t.Media.Server] {
			continue
		}
		tried[t.Media.Server] = true
		room, err := t.Media.Engine.Hint(authorization, body)
		if err == nil || fault.Is(err, fault.KindInvalid) {
			return t.Media.Server, room, true
		}
	}
	return engine.Server{}, "", false
}

// tenantOf finds whose room it is, among those who use that engine: one engine has no say about another's rooms.
func tenantOf(tenants []*tenant.Tenant, server engine.Server, room engine.RoomName) *tenant.Tenant {
	config, _, ok := meeting.ParseEngineRoom(room)
	if !ok {
		return nil
	}
	for _, t := range tenants {
		if string(t.UID) == config && t.Media != nil && t.Media.Server == server {
			return t
		}
	}
	return nil
}
