// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

const presenters, everyone = v1alpha1.Presenters, v1alpha1.Everyone

func TestControlOf(t *testing.T) {
	yes, no := true, false
	tenants := Settings{Locked: true, Policy: &v1alpha1.MeetingPolicy{Microphone: presenters, Camera: presenters}}
	for _, tc := range []struct {
		reason   string
		settings Settings
		spec     v1alpha1.MeetingSpec
		only     engine.Abilities
		locked   bool
	}{
		{"nothing is said", Settings{}, v1alpha1.MeetingSpec{}, 0, false},
		{"the tenant says it", tenants, v1alpha1.MeetingSpec{}, engine.Microphone | engine.Camera, true},
		{"the Meeting says it", Settings{}, v1alpha1.MeetingSpec{Locked: &yes, Policy: &v1alpha1.MeetingPolicy{Chat: presenters, Screen: presenters}}, engine.Chat | engine.Screen, true},
		{"the Meeting says otherwise", tenants, v1alpha1.MeetingSpec{Locked: &no, Policy: &v1alpha1.MeetingPolicy{Microphone: everyone, Chat: presenters}}, engine.Camera | engine.Chat, false},
	} {
		got := ControlOf(tc.settings, &tc.spec)
		if got.PresentersOnly != tc.only || got.Locked != tc.locked {
			t.Errorf("%s: %+v", tc.reason, got)
		}
		if whole := WholePolicy(got.PresentersOnly); presentersOnly(nil, &whole) != tc.only || presentersOnly(nil, PolicyOf(got.PresentersOnly)) != tc.only {
			t.Errorf("%s: there and back it is %+v", tc.reason, whole)
		}
	}
}

func TestSetPolicy(t *testing.T) {
	spec := v1alpha1.MeetingSpec{Policy: &v1alpha1.MeetingPolicy{Microphone: presenters, Chat: presenters}}
	SetPolicy(&spec, PolicyChanges(v1alpha1.MeetingPolicy{Microphone: everyone, Camera: presenters}))
	if diff := cmp.Diff(&v1alpha1.MeetingPolicy{Microphone: everyone, Camera: presenters, Chat: presenters}, spec.Policy); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	spec.Participants = []v1alpha1.ParticipantDecision{
		{Identity: "ann-1", GrantedSources: []v1alpha1.ParticipantSource{"Microphone"}}, {Identity: "bob-1", Muted: true, GrantedSources: []v1alpha1.ParticipantSource{"Camera", "Screen"}},
	}
	want := []v1alpha1.ParticipantDecision{spec.Participants[0], {Identity: "bob-1", Muted: true, GrantedSources: []v1alpha1.ParticipantSource{"Screen"}}}
	if SetPolicy(&spec, PolicyChanges(v1alpha1.MeetingPolicy{Camera: presenters})); !cmp.Equal(want, spec.Participants) {
		t.Errorf("the camera's exceptions go alone: %+v", spec.Participants)
	}
	if SetPolicy(&spec, map[engine.Abilities]v1alpha1.Audience{engine.Microphone: "", engine.Camera: "", engine.Screen: "", engine.Chat: ""}); spec.Policy != nil || !cmp.Equal([]v1alpha1.ParticipantDecision{{Identity: "bob-1", Muted: true}}, spec.Participants) {
		t.Errorf("without a policy of its own: %+v", spec)
	}
	for _, wrong := range []v1alpha1.MeetingPolicy{{}, {Chat: "Friends"}} {
		if ValidatePolicy(wrong) == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
	if err := ValidatePolicy(v1alpha1.MeetingPolicy{Screen: everyone}); err != nil {
		t.Error(err)
	}
}

// TestRightsOf: what a participant may do, by the policy and by all that is decided about them.
func TestRightsOf(t *testing.T) {
	type decisions = []v1alpha1.ParticipantDecision
	const all = engine.Microphone | engine.Camera | engine.Screen
	sources := func(list ...v1alpha1.ParticipantSource) []v1alpha1.ParticipantSource { return list }
	for _, tc := range []struct {
		reason    string
		only      engine.Abilities
		decisions decisions
		granted   bool
		want      engine.Rights
	}{
		{"nothing is said", 0, nil, false, engine.Rights{}},
		{"a policy", engine.Chat | engine.Camera, nil, false, engine.Rights{Forbidden: engine.Chat | engine.Camera}},
		{"a policy is not for presenters", all, nil, true, engine.Rights{Presenter: true}},
		{"muted", 0, decisions{{Identity: "ann-1", Muted: true}}, false, engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}},
		{"muted on another device", 0, decisions{{Identity: "ann-2", Muted: true}}, false, engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}},
		{"muted as a user", 0, decisions{{Identity: "user:anna", Muted: true}}, false, engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}},
		{"another user is muted", 0, decisions{{Identity: "user:ann", Muted: true}, {Identity: "bob-1", Muted: true}}, false, engine.Rights{}},
		{"a presenter is muted", all, decisions{{Identity: "ann-1", Muted: true}}, true, engine.Rights{Presenter: true, Forbidden: engine.Microphone, Held: engine.Microphone}},
		{"promoted", all, decisions{{Identity: "ann-1", Role: v1alpha1.RolePresenter}}, false, engine.Rights{Presenter: true}},
		{"promoted in the room", 0, decisions{{Identity: "ann-1", Role: v1alpha1.RolePresenter, Promoted: true}}, false, engine.Rights{Presenter: true, Promoted: true}},
		{"a presenter is promoted in the room", 0, decisions{{Identity: "ann-1", Role: v1alpha1.RolePresenter, Promoted: true}}, true, engine.Rights{Presenter: true}},
		{"the user is promoted in the room", 0, decisions{{Identity: "user:anna", Role: v1alpha1.RolePresenter, Promoted: true}}, false, engine.Rights{Presenter: true, Promoted: true}},
		{
			"the user is promoted in the room, and this one by the API", 0,
			decisions{{Identity: "user:anna", Role: v1alpha1.RolePresenter, Promoted: true}, {Identity: "ann-1", Role: v1alpha1.RolePresenter}}, false, engine.Rights{Presenter: true},
		},
		{"no presenter, whoever decided so", 0, decisions{{Identity: "ann-1", Role: v1alpha1.RoleParticipant, Promoted: true}}, false, engine.Rights{}},
		{"taken back", engine.Chat, decisions{{Identity: "ann-1", Role: v1alpha1.RoleParticipant}}, true, engine.Rights{Forbidden: engine.Chat}},
		{"the user is promoted", 0, decisions{{Identity: "user:anna", Role: v1alpha1.RolePresenter}}, false, engine.Rights{Presenter: true}},
		{
			"the user is promoted, and this one not", 0,
			decisions{{Identity: "user:anna", Role: v1alpha1.RolePresenter}, {Identity: "ann-1", Role: v1alpha1.RoleParticipant}}, false, engine.Rights{},
		},
		{"the camera alone", 0, decisions{{Identity: "ann-1", Sources: sources(v1alpha1.SourceCamera)}}, false, engine.Rights{Forbidden: engine.Microphone | engine.Screen, Held: engine.Microphone | engine.Screen}},
		{"no source", 0, decisions{{Identity: "ann-1", Sources: sources()}}, false, engine.Rights{Forbidden: engine.Media, Held: engine.Media}},
		{"a source that the policy forbids", engine.Camera, decisions{{Identity: "ann-1", Sources: sources(v1alpha1.SourceCamera)}}, false, engine.Rights{Forbidden: engine.Media, Held: engine.Microphone | engine.Screen}},
		{"a source that the policy forbids is granted", all, decisions{{Identity: "ann-1", GrantedSources: sources(v1alpha1.SourceCamera)}}, false, engine.Rights{Forbidden: engine.Microphone | engine.Screen}},
		{
			"one grant to the user and one to this one", all | engine.Chat,
			decisions{{Identity: "user:anna", GrantedSources: sources(v1alpha1.SourceScreen)}, {Identity: "ann-1", GrantedSources: sources(v1alpha1.SourceCamera)}},
			false, engine.Rights{Forbidden: engine.Microphone | engine.Chat},
		},
	} {
		if tc.reason == "no source" {
			tc.decisions[0].Sources = []v1alpha1.ParticipantSource{}
		}
		c := Control{PresentersOnly: tc.only, Decisions: tc.decisions}
		p := engine.Participant{Identity: "ann-1", Traits: engine.Traits{Granted: tc.granted, Username: "anna"}}
		if got := c.RightsOf(p); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.reason, got, tc.want)
		}
		p.Username = ""
		if got := c.RightsOf(p); got != tc.want && !slices.ContainsFunc(tc.decisions, func(d v1alpha1.ParticipantDecision) bool { return d.Identity == "user:anna" }) {
			t.Errorf("%s, of a guest: %+v, want %+v", tc.reason, got, tc.want)
		}
	}
}

// TestCorrection: what is done to a participant who is in, and nothing where nothing is wrong.
func TestCorrection(t *testing.T) {
	mute := []v1alpha1.ParticipantDecision{{Identity: "ann-1", Muted: true}}
	muted := engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}
	set := func(r engine.Rights) engine.Action { return engine.SetRights{Who: "ann-1", Rights: r} }
	for _, tc := range []struct {
		reason string
		c      Control
		p      engine.Participant
		want   engine.Action
	}{
		{"nothing is wrong", Control{}, engine.Participant{}, nil},
		{"nothing is wrong with a presenter", Control{PresentersOnly: engine.Media}, engine.Participant{Traits: engine.Traits{Presenter: true, Granted: true}}, nil},
		{"chat is the gateway's", Control{PresentersOnly: engine.Chat}, engine.Participant{}, nil},
		{"may do too much", Control{PresentersOnly: engine.Camera}, engine.Participant{}, set(engine.Rights{Forbidden: engine.Camera})},
		{"may do too little", Control{}, engine.Participant{Forbidden: engine.Camera}, set(engine.Rights{})},
		{"is a presenter, and should be none", Control{}, engine.Participant{Traits: engine.Traits{Presenter: true}}, set(engine.Rights{})},
		{"is muted", Control{Decisions: mute}, engine.Participant{Forbidden: engine.Microphone, Traits: engine.Traits{Held: engine.Microphone}}, nil},
		{"is muted, and told of a rule", Control{Decisions: mute}, engine.Participant{Forbidden: engine.Microphone}, set(muted)},
		{"is muted, and heard", Control{Decisions: mute}, engine.Participant{Forbidden: engine.Microphone, Traits: engine.Traits{Held: engine.Microphone}, Audio: true}, set(muted)},
		{"sends a picture that is kept", Control{PresentersOnly: engine.Camera}, engine.Participant{Forbidden: engine.Camera, Video: true}, set(engine.Rights{Forbidden: engine.Camera})},
		{"shares a screen that is kept", Control{PresentersOnly: engine.Screen}, engine.Participant{Forbidden: engine.Screen, Screen: true}, set(engine.Rights{Forbidden: engine.Screen})},
		{"was removed", Control{Decisions: []v1alpha1.ParticipantDecision{{Identity: "ann-2", Removed: true}}}, engine.Participant{}, engine.Remove{Who: "ann-1"}},
		{"the user was removed", Control{Decisions: []v1alpha1.ParticipantDecision{{Identity: "user:anna", Removed: true}}}, engine.Participant{Traits: engine.Traits{Username: "anna"}}, engine.Remove{Who: "ann-1"}},
		{"another user was removed", Control{Decisions: []v1alpha1.ParticipantDecision{{Identity: "user:anna", Removed: true}}}, engine.Participant{Traits: engine.Traits{Username: "ann"}}, nil},
		{"a hidden one publishes nothing anyway", Control{PresentersOnly: engine.Media, Decisions: mute}, engine.Participant{Traits: engine.Traits{Hidden: true, Held: engine.Microphone}}, nil},
	} {
		tc.p.Identity = "ann-1"
		if diff := cmp.Diff(tc.want, tc.c.Correction(tc.p)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
		}
	}
}

// TestLockAndPolicyInALife: what is in force is in the status, its changes are Events, and pages are told.
func TestLockAndPolicyInALife(t *testing.T) {
	tell(t, length("1h"), func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("it is locked", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.Locked = new(true) }) })
		s.step("microphones and chat are for presenters", func() {
			s.edit(func(spec *v1alpha1.MeetingSpec) {
				spec.Policy = &v1alpha1.MeetingPolicy{Microphone: presenters, Chat: presenters, Camera: everyone}
			})
		})
		s.step("all is as before", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.Locked, spec.Policy = nil, nil }) })
		s.step("the config locks it", func() { s.tenant.Settings.Locked = true })
	})
}

func TestOrigin(t *testing.T) {
	for who, want := range map[engine.Identity]string{
		"abcd-efgh": "abcd", "abcd": "abcd", "abcd-efgh-ij": "abcd", "user:anna-b": "user:anna-b",
		"sip_+49-151": "sip_+49-151", "sip_anna-b@example.com": "sip_anna-b@example.com", "": "",
	} {
		if got := Origin(who); got != want {
			t.Errorf("origin of %q is %q, want %q", who, got, want)
		}
	}
}
