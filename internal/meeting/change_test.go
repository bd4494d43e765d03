// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// urgency says of each field of the status how urgent its change is in an active meeting. What follows from the participants and
// changes as often as they do must not be urgent: its writes would be as many as the arrivals.
var urgency = map[string]struct {
	value any
	want  Change
}{
	"ObservedGeneration": {int64(2), SpecChange},
	"Phase":              {v1alpha1.MeetingEnding, OtherChange},
	"Duration":           {v1alpha1.Duration("2h"), OtherChange},
	"StartTime":          {&metav1.Time{}, FirstArrival},
	"ExpiryTime":         {&metav1.Time{}, DetailsChange}, // It moves with StartTime or the duration.
	"EndTime":            {&metav1.Time{}, OtherChange},
	"EndReason":          {v1alpha1.EndDeleted, OtherChange},
	"URL":                {"https://example.com", OtherChange},
	"Locked":             {true, OtherChange},
	"Policy":             {&v1alpha1.MeetingPolicy{}, OtherChange},
	"Admission":          {v1alpha1.AdmissionAsk, OtherChange},
	"WaitingCount":       {int32(1), ParticipantsChange},
	"Waiting":            {[]v1alpha1.WaitingPerson{{Identity: "a-b"}}, ParticipantsChange},
	"MediaServer":        {&v1alpha1.MediaServerReference{Name: "a"}, OtherChange},
	"LeftMediaServers":   {[]v1alpha1.LeftMediaServer{{}}, OtherChange},
	"ParticipantCount":   {int32(1), ParticipantsChange},
	"Participants":       {[]v1alpha1.Participant{{Identity: "a-b"}}, ParticipantsChange},
	"Conditions":         {[]metav1.Condition{{Type: v1alpha1.ConditionReady}}, OtherChange},
}

func TestEveryFieldOfTheStatusHasItsUrgency(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[v1alpha1.MeetingStatus]()) {
		u, ok := urgency[field.Name]
		if !ok {
			t.Errorf("status.%s is new: decide in change.go whether its write is urgent, and add it to this table", field.Name)
			continue
		}
		from := v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingActive}
		to := from
		reflect.ValueOf(&to).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(u.value))
		if got := ChangeOf(from, to); got != u.want {
			t.Errorf("status.%s: %d, want %d", field.Name, got, u.want)
		}
	}
}
