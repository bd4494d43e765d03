// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyNamedParametersPass(t *testing.T) {
	given := url.Values{
		"access_token": {strings.Repeat("t", 5000), "another"}, "auto_subscribe": {"1"}, "sdk": {"js"}, "sid": {"PA_x"}, "reconnect": {"1"},
		"publish": {"screen"}, "attributes": {"e30"}, "auto_subscribe_data_track": {"1"}, "room": {"x"}, "participantKind": {"x"}, "join_request": {"x"},
	}
	want := url.Values{"access_token": given["access_token"][:1], "auto_subscribe": {"1"}, "sdk": {"js"}, "sid": {"PA_x"}, "reconnect": {"1"}}
	got, _, err := Query(given)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, name := range parameters[1:] {
		if _, _, err := Query(url.Values{name: {strings.Repeat("x", maxText+1)}}); err == nil {
			t.Errorf("a long %s is passed on", name)
		}
	}
}

// TestWhatResumes: only a participant who says so to LiveKit has the participant's budgets of before.
func TestWhatResumes(t *testing.T) {
	for name, want := range map[string]bool{"sdk": false, "reconnect": true} {
		if _, resumes, err := Query(url.Values{name: {"1"}}); err != nil || resumes != want {
			t.Errorf("%s: %v, %v", name, resumes, err)
		}
	}
}
