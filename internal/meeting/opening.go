// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"
	"strings"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// Opening is the wish of a person to open a room that has no meeting by entering it. Who may is the caller's to decide; what is
// known of the room's earlier meetings can forbid it.
type Opening struct {
	Room string
	// By is what the person holds: a value of LabelAdHoc.
	By string
	// Lineage is the ticket's, and empty where there is none. What follows is carried by a ticket too.
	Lineage string
	// Duration and Redirect are empty, and MaxParticipants zero, for those of the tenant.
	Duration        v1alpha1.Duration
	Redirect        string
	MaxParticipants int
	// Allow is asked before a Meeting is made; it bounds how often that is done.
	Allow func() error
}

// OpenedBy says who opened the room of a Meeting by entering it: a value of LabelAdHoc, and empty for other Meetings.
func OpenedBy(m *v1alpha1.Meeting) string { return m.Labels[v1alpha1.LabelAdHoc] }

// isOfPeople reports whether participants opened the room of a Meeting by themselves, and no backend asked for it.
func isOfPeople(m *v1alpha1.Meeting) bool {
	by := OpenedBy(m)
	return by == v1alpha1.OpenedByGuest || by == v1alpha1.OpenedByUser
}

// Lead makes the first participant in a Meeting that no backend asked for a promoted presenter. It changes nothing in another Meeting, if a
// role is decided already, or if one more decision does not fit. Username is empty for a guest.
func Lead(m *v1alpha1.Meeting, who engine.Identity, username string) {
	decided := Control{Decisions: m.Spec.Participants}.DecisionOn(username, who)
	if who == "" || decided.Role != "" || !isOfPeople(m) {
		return
	}
	was := slices.Clone(m.Spec.Participants)
	Decide(&m.Spec, who, Promote)
	if !MakeRoom(was, &m.Spec) {
		m.Spec.Participants = was
	}
}

// Lasting returns the spec of an ended Meeting whose decisions hold in the next Meeting of the room. It is empty if the opener of the room
// leads it: such a leader could else lock the room for good.
func Lasting(s Settings, ended *v1alpha1.Meeting) *v1alpha1.MeetingSpec {
	if s.OpenerLeads && isOfPeople(ended) {
		return &v1alpha1.MeetingSpec{}
	}
	return &ended.Spec
}

// maxEndedLineages bounds how many are remembered. The oldest are forgotten first.
const maxEndedLineages = 20

// EndedLineages are the lineages of a room that had ended for good when its Meeting was made.
func EndedLineages(m *v1alpha1.Meeting) []string {
	return strings.FieldsFunc(m.Annotations[v1alpha1.AnnotationEndedLineages], func(r rune) bool { return r == ',' })
}

// WithEndedLineage is the annotation of a Meeting that comes after an ended one and does not continue it.
func WithEndedLineage(ended *v1alpha1.Meeting) string {
	all := append(EndedLineages(ended), Lineage(ended))
	return strings.Join(all[max(0, len(all)-maxEndedLineages):], ",")
}

// HasEnded says that a lineage is known to have ended for good, by a Meeting of its room.
func HasEnded(m *v1alpha1.Meeting, lineage string) bool {
	return slices.Contains(EndedLineages(m), lineage) || IsOver(m) && !Restartable(m) && Lineage(m) == lineage
}

// isReplaceable says that an ended Meeting, made by the API, holds nothing that a link which opens its room again does not
// bring: no password, and no decision about people that holds in the next Meeting.
func isReplaceable(s Settings, m *v1alpha1.Meeting) bool {
	return !Stands(m) && m.Spec.PasswordSecretRef == nil && !hasDecisions(Lasting(s, m))
}
