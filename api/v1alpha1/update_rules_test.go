// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
)

// stored makes an object for real, with a status where one is given.
func stored(t *testing.T, c *testkit.Cluster, o *object, status map[string]any) *object {
	t.Helper()
	o = o.DeepCopy()
	if err := c.Client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if status != nil {
		o.Object["status"] = plain(status)
		if err := c.Client.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// updates is a write over a stored object, of its spec or of its status.
func updates(t *testing.T, c *testkit.Cluster) func(*object) error {
	return func(o *object) error {
		return c.Client.Update(t.Context(), o.DeepCopy(), client.DryRunAll, client.FieldValidation("Strict"))
	}
}

func statusUpdates(t *testing.T, c *testkit.Cluster) func(*object) error {
	return func(o *object) error { return c.Client.Status().Update(t.Context(), o.DeepCopy(), client.DryRunAll) }
}

func configUpdates(t *testing.T, c *testkit.Cluster, r *refused) {
	checkRules(t, r, stored(t, c, resource(t, c, "ConferenceConfig", fullA), nil), updates(t, c), []rule{
		{"a field may come", "spec.api.allowed.token", false, ""},
		{"a field may go", "spec.access", absent, ""},
		{"the base URL may change", "spec.baseURL", "https://other.example.com", ""},
		{"rules hold for updates too", "spec.baseURL", "https://other.example.com/", "baseURL must not end with /"},
		{"the variant may change, with what belongs to it", "spec", map[string]any{"variant": "B", "baseURL": "http://x.example", "source": map[string]any{"env": map[string]any{"secretRef": ref("env")}}}, ""},
		{"the variant alone", "spec.variant", "B", "at spec: api.allowed belongs to variant A"},
		{"the last source of keys", "spec", map[string]any{"variant": "A", "baseURL": "http://x.example"}, needsKeys},
		{"a time that nobody can read", "spec.meetings.emptyTimeout", "5x", "should match"},
	})
}

func meetingUpdates(t *testing.T, c *testkit.Cluster, r *refused) {
	const fixedRoom, fixedConfig = "room cannot be changed; create another Meeting", "at spec.configRef: configRef cannot be changed; create another Meeting"
	open := resource(t, c, "Meeting", fullMeeting)
	open, _ = set(open, "spec.end", absent)
	checkRules(t, r, stored(t, c, open, nil), updates(t, c), []rule{
		{"another room", "spec.room", "Other", fixedRoom},
		{"the same room in other letters", "spec.room", "daily standup", fixedRoom},
		{"another config", "spec.configRef.name", "other", fixedConfig},
		{"the default config is the one that is there", "spec.configRef", absent, ""},
		{"a longer meeting", "spec.duration", "3h", ""},
		{"rules hold for updates too", "spec.duration", "03:00:00", "here write 1h30m for 01:30:00"},
		{"the default length again", "spec.duration", absent, ""},
		{"no password any more", "spec.passwordSecretRef", absent, ""},
		{"another redirect", "spec.redirect", "https://example.com/other", ""},
		{"the end is asked for", "spec.end", map[string]any{}, ""},
		{"the end is asked for with a redirect", "spec.end", map[string]any{"redirect": "https://example.com/"}, ""},
		{"status is not written here", "status", map[string]any{"phase": "nonsense"}, ""},
	})

	elsewhere := resource(t, c, "Meeting", "{room: x, configRef: {name: other}}")
	checkRules(t, r, stored(t, c, elsewhere, nil), updates(t, c), []rule{
		{"the reference goes, and the default is another config", "spec.configRef", absent, fixedConfig},
	})

	ending := resource(t, c, "Meeting", fullMeeting)
	const forGood = "at spec: spec.end cannot be removed: the end of a meeting cannot be taken back; create another Meeting"
	checkRules(t, r, stored(t, c, ending, nil), updates(t, c), []rule{
		{"the end is taken back", "spec.end", absent, forGood},
		{"another place to go to", "spec.end.redirect", "https://example.com/other", ""},
		{"the Meeting's own place to go to", "spec.end.redirect", absent, ""},
		{"everything else", "spec", map[string]any{"room": "Daily Standup", "end": map[string]any{}}, ""},
		{"everything, and the end", "spec", map[string]any{"room": "Daily Standup"}, forGood},
	})
}

// What has been written once stays, no matter who writes: controllers that took turns, or a person.
func meetingLatches(t *testing.T, c *testkit.Cluster, r *refused) {
	const (
		started = "at <nil>: status.startTime is set once, by the first arrival, and never changes"
		over    = "at <nil>: status.endTime is set once and never changes: an ended meeting stays ended"
		noWay   = "at <nil>: a Meeting that ends or has ended cannot become active again; create another Meeting"
		nine    = "2026-11-21T09:00:00Z"
		ten     = "2026-11-21T10:00:00Z"
	)
	m := resource(t, c, "Meeting", "{room: x}")
	status := func(phase string, more ...string) map[string]any {
		s := map[string]any{"phase": phase, "participantCount": 0}
		for i := 0; i+1 < len(more); i += 2 {
			s[more[i]] = more[i+1]
		}
		return s
	}
	checkRules(t, r, stored(t, c, m, nil), statusUpdates(t, c), []rule{
		{"pending at first", "status", status("Pending"), ""},
		{"everything at once", "status", status("Ended", "startTime", nine, "endTime", ten, "endReason", "Expired"), ""},
		{"no phase of ours", "status", status("Paused"), "at status.phase: supported values"},
	})
	checkRules(t, r, stored(t, c, m, status("Active")), statusUpdates(t, c), []rule{
		{"it cannot be entered any more", "status.phase", "Pending", ""},
		{"a participant arrives", "status.startTime", nine, ""},
		{"it ends", "status", status("Ending", "endReason", "Unjoined"), ""},
	})
	checkRules(t, r, stored(t, c, m, status("Active", "startTime", nine)), statusUpdates(t, c), []rule{
		{"the same start", "status", status("Active", "startTime", nine), ""},
		{"the same start, told in another zone", "status", status("Active", "startTime", "2026-11-21T10:00:00+01:00"), ""},
		{"another start", "status.startTime", ten, started},
		{"no start", "status.startTime", absent, started},
		{"no status", "status", absent, started},
		{"an empty status", "status", map[string]any{"participantCount": 0}, started},
		{"the end keeps the start", "status", status("Ending", "startTime", nine), ""},
	})
	checkRules(t, r, stored(t, c, m, status("Ending", "endReason", "Requested")), statusUpdates(t, c), []rule{
		{"still ending", "status.participantCount", 3, ""},
		{"ended", "status", status("Ended", "endTime", ten), ""},
		{"active again", "status.phase", "Active", noWay},
		{"pending again", "status.phase", "Pending", noWay},
		{"no phase", "status.phase", absent, noWay},
		{"no status", "status", absent, noWay},
	})
	ended := stored(t, c, m, status("Ended", "endTime", ten, "endReason", "Requested"))
	checkRules(t, r, ended, statusUpdates(t, c), []rule{
		{"ending again", "status.phase", "Ending", noWay},
		{"active again", "status.phase", "Active", noWay},
		{"another end", "status.endTime", nine, over},
		{"no end", "status.endTime", absent, over},
		{"no status", "status", absent, over},
		{"other people's names go", "status.url", "https://example.com", ""},
	})
	checkRules(t, r, ended, updates(t, c), []rule{
		{"the spec of an ended one can still be written, as kubectl apply does", "spec.duration", "1h", ""},
		{"metadata too", "metadata.labels", map[string]string{"a": "b"}, ""},
	})
}
