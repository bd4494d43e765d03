// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

func TestMeetingFromCreateToEnd(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	created := w.a.want(http.StatusOK, "POST", "/api/v1/meeting", nil)
	link := created.text("meeting")
	room, ok := strings.CutPrefix(link, w.a.baseURL+"/join/")
	if !ok || len(created.body) != 1 {
		t.Fatalf("POST meeting answered %s", created.raw)
	}
	w.eventually(t, func() error { return errors.Join(w.a.lists(room, true), w.a.counts(1, 0)) })
	if stats := w.b.want(http.StatusOK, "GET", "/api/v1/stats", nil); stats.body["totalRooms"] != 0.0 {
		t.Fatalf("the other tenant counts it: %s", stats.raw)
	}
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingActive) })
	ended := w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, map[string]any{"redirect": "https://example.com/bye"})
	if ended.body["success"] != true || ended.text("room") != room {
		t.Fatalf("DELETE answered %s", ended.raw)
	}
	w.eventually(t, func() error { return w.a.lists(room, false) })
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingEnded) })
	if m := w.meetingsOf(t, room)[0]; m.Status.EndReason != v1alpha1.EndRequested || m.Status.EndTime == nil {
		t.Fatalf("ended like this: %+v", m.Status)
	}
	again := w.a.want(http.StatusNotFound, "DELETE", "/api/v1/meeting/"+room, nil)
	if again.body["success"] != false || again.text("error") == "" {
		t.Fatalf("the second DELETE answered %s", again.raw)
	}
}

func TestRoomNamesAreFreeAtOnceAfterTheEnd(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	const room = "Réunion 1/2 ∞"
	w.a.want(http.StatusBadRequest, "POST", "/api/v1/meeting", map[string]any{"room": room})
	const fine = "Réunion ½ ∞"
	for range 3 {
		created := w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": fine, "duration": "01:00:00"})
		if want := w.a.baseURL + "/join/" + url.PathEscape(fine); created.text("meeting") != want {
			t.Fatalf("the link is %s, want %s", created.text("meeting"), want)
		}
		w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": fine, "duration": "01:00:00"})
		w.a.want(http.StatusConflict, "POST", "/api/v1/meeting", map[string]any{"room": fine, "duration": "02:00:00"})
		w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+url.PathEscape(fine), nil)
	}
}

func TestVariantBHasNoEnd(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	room := strings.TrimPrefix(w.b.want(http.StatusOK, "POST", "/api/v1/meeting", nil).text("meeting"), w.b.baseURL+"/join/")
	w.b.want(http.StatusNotFound, "DELETE", "/api/v1/meeting/"+room, nil)
	if m := w.meetingsOf(t, room)[0]; m.Spec.End != nil {
		t.Fatalf("it is gone all the same: %+v", m.Spec.End)
	}
	w.eventually(t, func() error { return w.b.lists(room, true) })
}
