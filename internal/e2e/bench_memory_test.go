// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// benchMemory holds 10,000 meetings with 10 people each.
func benchMemory(t *testing.T, w *world) {
	const n = 10_000
	empty := heldMemory(t, w.manager.PID())
	// There are no 100,000 browsers. The test writes the participants itself, while no manager runs that would correct them.
	w.manager.Stop()
	_, err := perSecond(n, func(i int) error {
		m := w.meeting(fmt.Sprint("mass", i))
		m.Labels = map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI}
		m.Annotations = map[string]string{v1alpha1.AnnotationRoomOpened: "2026-01-01T00:00:00Z"}
		if err := w.Client.Create(context.Background(), m); err != nil {
			return err
		}
		m.Status = crowded(w.a.baseURL + "/join/" + m.Spec.Room)
		return w.Client.Status().Update(context.Background(), m)
	})
	if err != nil {
		t.Fatal(err)
	}
	// One that does not lead holds them as they are: another process holds the Lease.
	w.startAsFollower(t)
	w.eventually(t, func() error {
		stats := w.a.call("GET", "/api/v1/stats", nil)
		if total, _ := stats.body["totalRooms"].(float64); total < n {
			return fmt.Errorf("stats are %s", stats.raw)
		}
		return nil
	})
	held := heldMemory(t, w.manager.PID())
	absolute("memory with 10,000 meetings of 10 people", fmt.Sprintf("%.0f MB", held), fmt.Sprintf("120 MB (%.0f MB with none)", empty), held/120)
	benchMany(t, w)
}

// crowded is the status of a meeting with ten people.
func crowded(url string) v1alpha1.MeetingStatus {
	now := metav1.Now()
	s := v1alpha1.MeetingStatus{
		ObservedGeneration: 1, Phase: v1alpha1.MeetingActive, Duration: v1alpha1.Unlimited, StartTime: &now, URL: url, ParticipantCount: 10,
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonOpen, Message: "People can enter at " + url, LastTransitionTime: now},
			{Type: v1alpha1.ConditionOccupied, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonParticipantsPresent, Message: "Participants are in the meeting", LastTransitionTime: now},
		},
	}
	for p := range 10 {
		s.Participants = append(s.Participants, v1alpha1.Participant{
			Identity: fmt.Sprintf("abcdefghijklmnop-%d", p), Name: fmt.Sprint("Participant ", p), Audio: true, Video: true,
			OS: "Linux", Browser: "Chrome 156", JoinTime: now,
		})
	}
	return s
}

// benchMany asks for totals of 10,000 meetings, for their listing and for a page of the listing, and holds the listing against encoding/json.
func benchMany(t *testing.T, w *world) {
	stats := perRequest(t, w.manager.PID(), "GET", w.a.baseURL+"/api/v1/stats", w.a.key, nil)
	if fewStats > 0 {
		ratio(t, "GET stats with 10,000 meetings, CPU", stats.String(), "with 10 meetings "+fewStats.String(), float64(stats)/float64(fewStats), atMost(1.5))
	}
	body := w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
	var decoded listing
	if err := json.Unmarshal([]byte(body.raw), &decoded); err != nil {
		t.Fatal(err)
	}
	perCall := func(pid, n int, do func()) time.Duration {
		before := cpu(t, pid)
		for range n {
			do()
		}
		return (cpu(t, pid) - before) / time.Duration(n)
	}
	encoding := perCall(os.Getpid(), 50, func() {
		if err := json.NewEncoder(io.Discard).Encode(decoded); err != nil {
			t.Fatal(err)
		}
	})
	whole := perCall(w.manager.PID(), 50, func() { w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil) })
	ratio(t, fmt.Sprintf("GET meetings with 10,000 (%.1f MB), CPU", float64(len(body.raw))/1e6), whole.String(),
		"encoding/json "+encoding.String(), float64(whole)/float64(encoding), atMost(4))
	page := perCall(w.manager.PID(), 1000, func() { w.a.want(http.StatusOK, "GET", "/api/v1/meetings?limit=100", nil) })
	ratio(t, "a page of 100 of them, CPU", page.String(), "a hundredth of all "+(whole/100).String(), float64(page)/float64(whole/100), atMost(3))
}

// listing is what GET meetings answers.
type listing struct {
	Meetings []struct {
		RoomID       string     `json:"roomId"`
		URL          string     `json:"url"`
		StartedAt    time.Time  `json:"startedAt"`
		ExpiresAt    *time.Time `json:"expiresAt,omitempty"`
		Duration     string     `json:"duration"`
		Participants int        `json:"participants"`
		Peers        []struct {
			Name      string `json:"name"`
			Presenter bool   `json:"presenter"`
			Video     bool   `json:"video"`
			Audio     bool   `json:"audio"`
			Screen    bool   `json:"screen"`
			Hand      bool   `json:"hand"`
			OS        string `json:"os"`
			Browser   string `json:"browser"`
			Hidden    bool   `json:"hidden"`
		} `json:"peers"`
	} `json:"meetings"`
}
