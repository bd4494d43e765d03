// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the transcripts in testdata")

// story is a life with a transcript of every plan that changes or does anything.
type story struct {
	*life
	text strings.Builder
	// quiet is what was last said of a plan: it is not said again. again counts plans that only do the same again.
	quiet string
	again int
}

// tell runs a scenario and compares its transcript with testdata/NAME.golden.
func tell(t *testing.T, change func(*life), scenario func(*story)) {
	t.Helper()
	s := &story{}
	if change == nil {
		change = func(*life) {}
	}
	s.life = newLife(t, change)
	s.told = s.plan
	s.step("the Meeting is created", func() {})
	scenario(s)
	path := filepath.Join("testdata", strings.TrimPrefix(t.Name(), "Test")+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(s.text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run go test ./internal/meeting -update, and read what it writes", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(s.text.String(), "\n")); diff != "" {
		t.Errorf("not as in %s (-want +got):\n%s", path, diff)
	}
}

// step says what happens, lets it happen, and has the reconciler called as a watch or the observer would.
func (s *story) step(what string, happen func()) {
	fmt.Fprintf(&s.text, "\n%s  %s\n", clock(s.now), what)
	was := s.quiet
	happen()
	if s.meeting != nil {
		s.reconcile()
	}
	s.close(was)
}

// wait lets time pass; nobody calls the reconciler but its own alarm.
func (s *story) wait(d time.Duration) {
	fmt.Fprintf(&s.text, "\n%s  %s pass\n", clock(s.now), d)
	was := s.quiet
	s.pass(d)
	s.close(was)
}

// flush says how often the same was done again.
func (s *story) flush() (said bool) {
	if said = s.again > 0; said {
		s.line("… and the same again, %d times", s.again)
	}
	s.again = 0
	return said
}

func (s *story) close(was string) {
	again := s.flush()
	switch {
	case s.meeting == nil && !strings.HasSuffix(s.text.String(), "the object is gone\n"):
		s.line("the object is gone")
	case s.quiet == was && !again:
		s.line("nothing to do")
	}
}

// plan writes a plan down.
func (s *story) plan(in Input, d Decision) {
	says := describeDecision(in, d)
	if says == s.quiet && len(d.Events) == 0 && !d.Delete && d.Refresh == nil {
		if d.Close {
			s.again++
		}
		return
	}
	s.flush()
	s.quiet = says
	s.line("%s sees %s", clock(in.Now), describeInput(in))
	s.line("    → %s", says)
	switch {
	case d.Close && d.Redirect == "":
		s.line("    does: send everybody to the home page, delete the room")
	case d.Close:
		s.line("    does: send everybody to %s, delete the room", d.Redirect)
	}
	switch {
	case d.Refresh == nil:
	case d.Refresh.ExpiresAt.IsZero():
		s.line("    does: tell the pages that it has no limit")
	default:
		s.line("    does: tell the pages that it ends at %s", clock(d.Refresh.ExpiresAt))
	}
	if r := d.Refresh; r != nil && (r.Locked || r.PresentersOnly != 0) {
		s.line("    does: tell the pages that locked is %t, and for presenters only: %s", r.Locked, describePolicy(r.PresentersOnly))
	}
	if r := d.Refresh; r != nil && r.Admission != "" {
		s.line("    does: tell the pages that admission is %s", r.Admission)
	}
	if d.Status.Admission != "" {
		s.line("    in force: admission %s", d.Status.Admission)
	}
	if d.Status.Locked || d.Status.Policy != nil {
		s.line("    in force: locked %t, policy %+v", d.Status.Locked, ptr.Deref(d.Status.Policy, v1alpha1.MeetingPolicy{}))
	}
	if d.Delete {
		s.line("    does: delete the object")
	}
	for _, e := range d.Events {
		kind := "Normal"
		if e.Warning {
			kind = "Warning"
		}
		s.line("    event: %s %s: %s", kind, e.Reason, e.Message)
	}
	if !d.WakeAt.IsZero() {
		s.line("    alarm: %s, in %s", clock(d.WakeAt), d.WakeAt.Sub(in.Now))
	}
}

func (s *story) line(format string, args ...any) { fmt.Fprintf(&s.text, "    "+format+"\n", args...) }

func describeInput(in Input) string {
	var parts []string
	switch {
	case in.ConfigGone:
		parts = append(parts, "config deleted")
	case in.Tenant == nil:
		parts = append(parts, "no config")
	case in.Tenant.Deleting:
		parts = append(parts, "config being deleted")
	case len(in.Tenant.Places) == 0:
		parts = append(parts, "config without media")
	}
	if in.Rival != "" {
		parts = append(parts, "room held by "+in.Rival)
	}
	if in.Lent {
		parts = append(parts, "made by the API")
	}
	if !in.HeirSince.IsZero() {
		parts = append(parts, "a standing Meeting waits since "+clock(in.HeirSince))
	}
	switch seen := in.Seen; {
	case !seen.Known && !seen.UnavailableSince.IsZero() && seen.SilentSince.IsZero():
		parts = append(parts, "engine that refuses the key since "+clock(seen.UnavailableSince))
	case !seen.Known && !seen.UnavailableSince.IsZero():
		parts = append(parts, "engine away since "+clock(seen.UnavailableSince))
	case !seen.Known:
		parts = append(parts, "no engine")
	case !seen.RoomExists:
		parts = append(parts, "no room")
	case len(seen.Participants) == 0:
		parts = append(parts, "an empty room")
	default:
		var names []string
		for _, p := range seen.Participants {
			names = append(names, p.Name)
		}
		parts = append(parts, "a room with "+strings.Join(names, ", "))
	}
	for _, name := range LeftPlaces(in.Meeting) {
		switch seen := in.Left[name]; {
		case !seen.Known:
			parts = append(parts, name.Name+" away")
		case !seen.RoomExists:
			parts = append(parts, name.Name+" without the room")
		default:
			parts = append(parts, fmt.Sprintf("%s with %d in the room", name.Name, len(seen.Participants)))
		}
	}
	if in.Meeting.Spec.End != nil {
		parts = append(parts, "end asked for")
	}
	if in.Meeting.DeletionTimestamp != nil {
		parts = append(parts, "object being deleted")
	}
	return strings.Join(parts, ", ")
}

func describeDecision(in Input, d Decision) string {
	s := d.Status
	parts := []string{string(s.Phase)}
	if s.EndReason != "" {
		parts[0] += " (" + string(s.EndReason) + ")"
	}
	if s.Phase == v1alpha1.MeetingPending || s.Phase == v1alpha1.MeetingActive {
		parts = append(parts, "length "+string(s.Duration))
	}
	parts = append(parts, fmt.Sprintf("%d in", s.ParticipantCount))
	if s.StartTime != nil {
		parts = append(parts, "started "+clock(s.StartTime.Time))
	}
	if s.ExpiryTime != nil && s.Phase != v1alpha1.MeetingEnded {
		parts = append(parts, "expires "+clock(s.ExpiryTime.Time))
	}
	if s.EndTime != nil {
		parts = append(parts, "ended "+clock(s.EndTime.Time))
		ended := in.Meeting.DeepCopy()
		ended.Status = s
		if Restartable(ended) {
			parts = append(parts, "links start it again")
		}
	}
	if s.MediaServer != nil && s.MediaServer.Name != onePlace[0].Name.Name {
		parts = append(parts, "on "+s.MediaServer.Name)
	}
	for _, l := range s.LeftMediaServers {
		parts = append(parts, "left "+l.Name)
	}
	for _, c := range s.Conditions {
		parts = append(parts, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
	}
	return strings.Join(parts, "; ")
}
