// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// rightsRow is a row of testdata/rights.json, which the tests of the page read too: what becomes of the microphone.
type rightsRow struct {
	Decided    string                       `json:"decided"`
	Decision   v1alpha1.ParticipantDecision `json:"decision"`
	Everyone   voice                        `json:"everyone"`
	Presenters voice                        `json:"presenters"`
	Presenter  voice                        `json:"presenter"`
}

// voice is whether one may speak, and why.
type voice string

var voices = map[voice]string{"open": "may speak", "granted": "may speak, granted", "rule": "only presenters may", "locked": "locked"}

func voiceOf(r engine.Rights, only engine.Abilities) voice {
	switch {
	case r.Held.Has(engine.Microphone) && r.Forbidden.Has(engine.Microphone):
		return "locked"
	case r.Forbidden.Has(engine.Microphone):
		return "rule"
	case only.Has(engine.Microphone) && !r.Presenter:
		return "granted"
	}
	return "open"
}

// TestRightsTable: policy, role and decisions come together as the table has it, which docs/moderate.md shows.
func TestRightsTable(t *testing.T) {
	table := "| decided about one participant | policy `Everyone` | policy `Presenters` | a presenter |\n| --- | --- | --- | --- |\n"
	for _, row := range rightsTable(t) {
		table += fmt.Sprintf("| %s | %s | %s | %s |\n", row.Decided, voices[row.Everyone], voices[row.Presenters], voices[row.Presenter])
		for only, want := range map[engine.Abilities]voice{0: row.Everyone, engine.Media: row.Presenters} {
			c := Control{PresentersOnly: only}
			demoted, promoted := row.Decision, row.Decision
			demoted.Role, promoted.Role = v1alpha1.RoleParticipant, v1alpha1.RolePresenter
			for _, one := range []struct {
				who     string
				d       v1alpha1.ParticipantDecision
				granted bool
				want    voice
			}{
				{"a participant", row.Decision, false, want}, {"one who is a presenter no more", demoted, true, want},
				{"a presenter", row.Decision, true, row.Presenter}, {"one who was made a presenter", promoted, false, row.Presenter},
			} {
				if got := voiceOf(c.Rights(one.d, one.granted), only); got != one.want {
					t.Errorf("%s, policy %b, %s: %s, want %s", row.Decided, only, one.who, got, one.want)
				}
			}
		}
	}
	doc, err := os.ReadFile("../../docs/moderate.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), table) {
		t.Errorf("docs/moderate.md does not have this table:\n%s", table)
	}
}

// TestTheWordIsGivenAndTaken: whatever was decided, about the participant or about the user, one who is given the word may speak, and
// after it is taken back the policy counts.
func TestTheWordIsGivenAndTaken(t *testing.T) {
	for _, row := range rightsTable(t) {
		for _, only := range []engine.Abilities{0, engine.Microphone, engine.Media | engine.Chat} {
			for _, about := range []string{"ann-1", "ann-2", "user:anna"} {
				spec := v1alpha1.MeetingSpec{Participants: []v1alpha1.ParticipantDecision{row.Decision, {Identity: "bob-1", Muted: true}}}
				spec.Participants[0].Identity = about
				rights := func() engine.Rights {
					c := Control{PresentersOnly: only, Decisions: spec.Participants}
					return c.Rights(c.DecisionOn("anna", "ann-1"), false)
				}
				before := rights().Forbidden &^ engine.Microphone
				Grant(&spec, "ann-1", only&engine.Microphone)
				Unlock(&spec, "ann-1", "anna", engine.Microphone)
				if got := rights().Forbidden; got != before {
					t.Errorf("%s about %s, policy %b: %b is forbidden to one who has the word, and was %b", row.Decided, about, only, got, before)
				}
				TakeGrant(&spec, "ann-1", "anna", engine.Microphone)
				if got := rights().Forbidden; got != before|only&engine.Microphone {
					t.Errorf("%s about %s, policy %b: %b is forbidden after the word was taken back", row.Decided, about, only, got)
				}
				if c := (Control{Decisions: spec.Participants}); !c.DecisionOn("", "bob-1").Muted {
					t.Errorf("%s about %s: another may speak, too", row.Decided, about)
				}
			}
		}
	}
}

func rightsTable(t *testing.T) (rows []rightsRow) {
	t.Helper()
	text, err := os.ReadFile("testdata/rights.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
