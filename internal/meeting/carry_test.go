// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// notCarried are the fields of a Meeting that the request for the next Meeting decides, and why.
var notCarried = map[string]string{
	"Room": "the same for both", "ConfigRef": "the same for both", "PasswordSecretRef": "a Secret belongs to one Meeting",
	"Duration": "the request names it", "Redirect": "the request names it",
	"UnjoinedTimeout": "requests cannot name it: only a Meeting made by hand has it", "EmptyTimeout": "as UnjoinedTimeout",
	"End": "the next Meeting is live",
}

// TestCarryLeavesNoDecisionBehind: a field that is added to the spec is carried, or somebody has to say why it is not.
func TestCarryLeavesNoDecisionBehind(t *testing.T) {
	from := v1alpha1.MeetingSpec{
		Policy: &v1alpha1.MeetingPolicy{Chat: v1alpha1.Presenters}, Locked: new(true), Admission: v1alpha1.AdmissionAsk, MaxParticipants: new(int32(5)),
		AdmittedUntil: &metav1.Time{Time: time.Unix(1, 0)},
		Participants:  []v1alpha1.ParticipantDecision{{Identity: "ada-1", Muted: true, Sources: []v1alpha1.ParticipantSource{}}},
	}
	var to v1alpha1.MeetingSpec
	Carry(&to, &from)
	was, is := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range was.NumField() {
		field := was.Type().Field(i).Name
		_, left := notCarried[field]
		switch {
		case left:
			if !is.Field(i).IsZero() {
				t.Errorf("%s is carried, and %s", field, notCarried[field])
			}
		case was.Field(i).IsZero():
			t.Errorf("%s: give it a value here, or say why it is not carried", field)
		case !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()):
			t.Errorf("%s was %v, is %v", field, was.Field(i).Interface(), is.Field(i).Interface())
		}
	}
	from.Participants[0].Muted = false
	if !to.Participants[0].Muted {
		t.Error("the two Meetings share a list")
	}
	to.MaxParticipants = new(int32(7))
	if Carry(&to, &from); *to.MaxParticipants != 7 {
		t.Errorf("the request names 7, and %d may be in", *to.MaxParticipants)
	}
}
