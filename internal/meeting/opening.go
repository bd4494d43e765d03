// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"
	"strings"

	"convene.dev/convene/api/v1alpha1"
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
// bring: no password, and no decision about people.
func isReplaceable(m *v1alpha1.Meeting) bool {
	return !Stands(m) && m.Spec.PasswordSecretRef == nil && !hasDecisions(m)
}
