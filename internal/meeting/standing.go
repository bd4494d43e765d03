// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"
	"strings"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// IdentitySeparator stands between the two halves of an identity: its origin, which is the same for all who come
// with one ticket or token or as one user, and what is used once.
const IdentitySeparator = "-"

// Removed are the identities that a presenter removed from a Meeting.
func Removed(m *v1alpha1.Meeting) []engine.Identity { return identities(m, v1alpha1.AnnotationRemoved) }

// Muted are the identities that a presenter muted in a Meeting.
func Muted(m *v1alpha1.Meeting) []engine.Identity { return identities(m, v1alpha1.AnnotationMuted) }

// Listed reports whether a list has an identity, or another of the same origin: a participant who was removed or muted is so on
// every device and after every return.
func Listed(list []engine.Identity, who engine.Identity) bool {
	origin := Origin(who)
	return slices.ContainsFunc(list, func(other engine.Identity) bool { return Origin(other) == origin })
}

// Origin is the half of an identity that is the same for all who come with one credential.
func Origin(who engine.Identity) string {
	origin, _, _ := strings.Cut(string(who), IdentitySeparator)
	return origin
}

func identities(m *v1alpha1.Meeting, annotation string) []engine.Identity {
	if m.Annotations[annotation] == "" {
		return nil // Most have none, and a listing asks each.
	}
	var all []engine.Identity
	for _, id := range strings.FieldsFunc(m.Annotations[annotation], func(r rune) bool { return r == ',' }) {
		all = append(all, engine.Identity(id))
	}
	return all
}
