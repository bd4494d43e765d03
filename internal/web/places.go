// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/url"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// opensRooms says that people may open rooms here without a link that the API made.
func opensRooms(t *tenant.Tenant) bool {
	return t.Settings.AdHoc == v1alpha1.AdHocUsers || t.Settings.AdHoc == v1alpha1.AdHocAnyone
}

// redirectFrom leads from a page that other services have to what there is of it here: the room, a new room, or the service's
// own first page. It never leads to spec.web.homeURL, which may be one of these addresses.
func redirectFrom(place compat.Place, q *httpserver.Request) (httpserver.Answer, error) {
	switch place {
	case compat.NewRoom:
		if opensRooms(q.Tenant) {
			return httpserver.Redirect("/join/" + compat.RoomName()), nil
		}
		return httpserver.Location{Path: "/"}, nil
	case compat.Login:
		if q.HTTP.URL.Query().Get("room") != "" {
			return httpserver.Redirect("/join"), nil
		}
		return httpserver.Location{Path: "/"}, nil
	case compat.HomePage:
		return httpserver.Location{Path: "/"}, nil
	case compat.NoPlace, compat.Reserved:
	}
	return nil, errNoSuchPage
}

// redirectFromWaiting leads from a page on which other services let people wait to the room.
func (h *handler) redirectFromWaiting(q *httpserver.Request) (httpserver.Answer, error) {
	room := q.HTTP.PathValue("room")
	if meeting.ValidateAskedRoom(room) != nil {
		return nil, errNoSuchPage
	}
	return httpserver.Redirect("/join/" + url.PathEscape(room)), nil
}

// madeUp is the query of a link with what it asks the service to make up: room=random, where people may open rooms, and
// name=random.
func madeUp(q *httpserver.Request) (query string, changed bool) {
	values := q.HTTP.URL.Query()
	if values.Get("room") == compat.Random && opensRooms(q.Tenant) {
		values.Set("room", compat.RoomName())
		changed = true
	}
	if values.Get("name") == compat.Random && values.Get("token") == "" {
		values.Set("name", compat.FriendlyName())
		changed = true
	}
	if !changed {
		return "", false
	}
	return values.Encode(), true
}
