// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/meeting"
)

// requests reads all bodies of the API.
var requests = body.Lenient(
	body.As(readClock), body.As(readURL), body.As(readLifetime), body.As(readSources),
	body.Word(roles...), body.Word(admissions...), body.Word(audiences...),
)

// The words of PATCH.
var (
	roles      = []v1alpha1.ParticipantRole{v1alpha1.RolePresenter, v1alpha1.RoleParticipant}
	admissions = []v1alpha1.Admission{v1alpha1.AdmissionOpen, v1alpha1.AdmissionWithPresenter, v1alpha1.AdmissionAsk}
	audiences  = []v1alpha1.Audience{v1alpha1.Everyone, v1alpha1.Presenters}
)

// readClock reads a duration as the API writes it, or a word for none.
func readClock(value jsontext.Value) (v1alpha1.Duration, error) {
	text, err := body.ReadOrNone(value)
	if err != nil || text == "" {
		return "", err
	}
	length, err := meeting.ParseClock(string(text))
	return length.Duration(), err
}

// readURL reads an address, or a word for none.
func readURL(value jsontext.Value) (v1alpha1.URL, error) {
	text, err := body.ReadOrNone(value)
	return v1alpha1.URL(text), err
}

// errNothingNamed is for a patch that says nothing.
func errNothingNamed(members string) error {
	return fault.Invalid("", "The request changes nothing; name %s", members)
}
