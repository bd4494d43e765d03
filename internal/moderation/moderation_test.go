// SPDX-License-Identifier: Apache-2.0

package moderation

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

var update = flag.Bool("update", false, "write the golden file anew")

var start = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// world has one meeting. Its microphone is for presenters, and Ann has the word. Dan waits to be let in, and Cem is just connecting.
type world struct {
	engine.Engine
	mu     sync.Mutex
	tenant *tenant.Tenant
	spec   v1alpha1.MeetingSpec
	people map[engine.RoomName][]engine.Participant
	acts   []string
	// A media server that is away answers nothing, and a broken one lists participants and does nothing.
	away, breaks bool
	// unmutesNobody refuses rights with which a telephone would be unmuted.
	unmutesNobody bool
	*Service
}

const room engine.RoomName = "uid"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		tenant: &tenant.Tenant{Settings: meeting.DefaultSettings()},
		spec: v1alpha1.MeetingSpec{
			Policy: &v1alpha1.MeetingPolicy{Microphone: v1alpha1.Presenters}, Admission: v1alpha1.AdmissionAsk,
			Participants: []v1alpha1.ParticipantDecision{
				{Identity: "ann-1", GrantedSources: []v1alpha1.ParticipantSource{v1alpha1.SourceMicrophone}},
				{Identity: "mia-1", Role: v1alpha1.RolePresenter, Promoted: true}, {Identity: "user:eve", Muted: true},
			},
		},
	}
	came := func(who engine.Identity, t engine.Traits) engine.Participant {
		return engine.Participant{
			Identity: who, Traits: t, JoinedAt: start, Audio: who != "bob-1", Video: who != "ann-2", Screen: who == "ann-2", Hand: who == "ann-1",
		}
	}
	telephone := came("sip_+49", engine.Traits{})
	telephone.Kind = v1alpha1.KindSIP
	w.people = map[engine.RoomName][]engine.Participant{
		room: {
			came("paula-1", engine.Traits{Presenter: true, Granted: true}), came("pia-1", engine.Traits{Presenter: true, Granted: true}),
			came("mia-1", engine.Traits{}), came("ann-1", engine.Traits{Username: "ann"}), came("ann-2", engine.Traits{Username: "ann"}), came("bob-1", engine.Traits{}),
			telephone,
		},
		meeting.WaitingRoom(room): {came("dan-1", engine.Traits{Since: start})},
	}
	w.tenant.Media = []*tenant.Media{{Engine: w}}
	entry := admission.New(nil)
	leave, err := entry.TakeWaitingPlace(w.tenant, meeting.View{EngineRoom: room}, "cem-1", netip.Prefix{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leave)
	w.Service = New(w, entry)
	j := &job{Service: w.Service, tenant: w.tenant, view: w.view()}
	if err := j.correct(t.Context(), w.people[room]); err != nil {
		t.Fatal(err)
	}
	w.acts = nil
	return w
}

func (w *world) view() meeting.View {
	return meeting.View{UID: "uid", Room: "room", EngineRoom: room, Opened: true, Control: meeting.ControlOf(w.tenant.Settings, &w.spec)}
}

func (w *world) Change(_ context.Context, t *tenant.Tenant, _ string, change func(*v1alpha1.MeetingSpec) error) (meeting.View, error) {
	now := *w.spec.DeepCopy()
	if err := change(&now); err != nil {
		return meeting.View{}, err
	}
	if err := t.Settings.ValidateChange(&w.spec, &now); err != nil {
		return meeting.View{}, err
	}
	w.spec = now
	return w.view(), nil
}

var errAway = fault.Unavailable("The media server is away")

func (w *world) Participants(_ context.Context, room engine.RoomName) ([]engine.Participant, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away {
		return nil, errAway
	}
	return slices.Clone(w.people[room]), nil
}

// Act keeps what was done, and changes the participants.
func (w *world) Act(_ context.Context, room engine.RoomName, action engine.Action) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away || w.breaks {
		return errAway
	}
	w.acts = append(w.acts, describe(action))
	if rights, ok := action.(engine.SetRights); ok && w.unmutesNobody && rights.Who == "sip_+49" {
		return errNoUnmute
	}
	who := engine.Identity(reflect.ValueOf(action).FieldByName("Who").String())
	at := slices.IndexFunc(w.people[room], func(p engine.Participant) bool { return p.Identity == who })
	if at < 0 {
		return nil
	}
	p := &w.people[room][at]
	switch action := action.(type) {
	case engine.SetRights:
		p.Presenter, p.Promoted, p.Forbidden, p.Held = action.Presenter, action.Promoted, action.Forbidden, action.Held
		p.Audio, p.Video = p.Audio && !p.Forbidden.Has(engine.Microphone), p.Video && !p.Forbidden.Has(engine.Camera)
	case engine.Remove:
		w.people[room] = slices.Delete(w.people[room], at, at+1)
	}
	return nil
}

// describe is an action in words.
func describe(action engine.Action) string {
	switch a := action.(type) {
	case engine.SetRights:
		says := fmt.Sprintf("rights of %s: forbidden %q, held %q", a.Who, a.Forbidden.Names(), a.Held.Names())
		if a.Presenter {
			says += fmt.Sprintf(", presenter, promoted %t", a.Promoted)
		}
		return says
	case engine.Mute:
		return fmt.Sprintf("mute %q of %s", a.What.Names(), a.Who)
	case engine.Unmute:
		return fmt.Sprintf("unmute %q of %s", a.What.Names(), a.Who)
	case engine.Announce:
		return fmt.Sprintf("announce %s to %q", a.Payload, a.To)
	case engine.Tell:
		return fmt.Sprintf("tell all: for presenters only %q, locked %t, admission %q, open %t", a.State.PresentersOnly.Names(), a.State.Locked, a.State.Admission, a.State.Open)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T%+v", action, action), "engine.")
}

// asked are values for every command.
func asked() Values {
	return Values{
		Spec: v1alpha1.MeetingSpec{
			Locked: new(true), Duration: "2h", MaxParticipants: new(int32(20)), Redirect: "https://example.com/", Admission: v1alpha1.AdmissionOpen,
		},
		Decision: v1alpha1.ParticipantDecision{
			Role: v1alpha1.RolePresenter, Muted: true, Admitted: true, Sources: []v1alpha1.ParticipantSource{v1alpha1.SourceCamera},
			GrantedSources: []v1alpha1.ParticipantSource{v1alpha1.SourceScreen},
		},
		Policy: map[engine.Abilities]v1alpha1.Audience{engine.Microphone: "", engine.Chat: v1alpha1.Presenters},
		Raised: true, Notice: Notice{ID: "1", Text: " Hello ", At: start},
	}
}

var kinds = map[fault.Kind]string{
	fault.KindConflict: "conflict", fault.KindInvalid: "invalid", fault.KindDenied: "denied", fault.KindNotFound: "not found", fault.KindUnavailable: "unavailable",
}

// life returns the effects of one command on one subject.
func life(t *testing.T, c Command, to engine.Identity, by *Actor, away bool) string {
	w := newWorld(t)
	w.away = away
	before := w.spec.DeepCopy()
	got, err := w.Do(t.Context(), w.tenant, w.view(), Order{Commands: []string{c.Name}, To: to, By: by, Values: asked()})
	var lines []string
	switch f := (*fault.Error)(nil); {
	case errors.As(err, &f):
		lines = append(lines, fmt.Sprintf("refused: %s (%s)", f.Message, kinds[f.Kind]))
	case got.Late != nil:
		lines = append(lines, "saved: "+got.Late.Error())
	default:
		lines = append(lines, "done")
	}
	lines = append(lines, changes(t, before, &w.spec)...)
	slices.Sort(w.acts)
	for _, act := range w.acts {
		lines = append(lines, "does "+act)
	}
	return strings.Join(lines, "\n        ")
}

// changes are the fields of a Meeting that are not as before.
func changes(t *testing.T, before, after *v1alpha1.MeetingSpec) (lines []string) {
	t.Helper()
	fields := func(spec *v1alpha1.MeetingSpec) (all map[string]json.RawMessage) {
		text, err := json.Marshal(spec)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	was, is := fields(before), fields(after)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if string(was[name]) != string(is[name]) && name != "participants" {
			lines = append(lines, fmt.Sprintf("writes %s: %s", name, is[name]))
		}
	}
	for name := range was {
		if is[name] == nil && name != "participants" {
			lines = append(lines, "takes back "+name)
		}
	}
	known := map[string]v1alpha1.ParticipantDecision{}
	for _, d := range before.Participants {
		known[d.Identity] = d
	}
	for _, d := range after.Participants {
		if !reflect.DeepEqual(known[d.Identity], d) {
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, "decides "+string(text))
		}
		delete(known, d.Identity)
	}
	for _, who := range slices.Sorted(maps.Keys(known)) {
		lines = append(lines, "decides nothing about "+who)
	}
	return lines
}

// TestLivesOfCommands holds the effects of every command against a file: what is written down, what the media server does, and the refusals.
func TestLivesOfCommands(t *testing.T) {
	paula, mia := &Actor{Identity: "paula-1", Granted: true}, &Actor{Identity: "mia-1"}
	subjects := []engine.Identity{
		"ann-1", "ann-3", "bob-1", "pia-1", "paula-1", "mia-1", "sip_+49", "dan-1", "cem-1", "gone-1", "user:ann", "user:eve", "user:nobody",
	}
	var text strings.Builder
	for _, c := range All() {
		if c.Apply == nil && c.Act == nil {
			continue // The end belongs to package conference.
		}
		fmt.Fprintf(&text, "%s\n", c.Name)
		about := []engine.Identity{""}
		switch {
		case c.OnOne:
			about = subjects
		case c.Alone:
			about = append(about, subjects...)
		}
		for _, to := range about {
			all := life(t, c, to, nil, false)
			fmt.Fprintf(&text, "    %q by a backend: %s\n", to, all)
			if c.Page {
				higher := life(t, c, to, paula, false)
				if higher != all {
					fmt.Fprintf(&text, "    %q by paula, a presenter: %s\n", to, higher)
				}
				if got := life(t, c, to, mia, false); got != higher {
					fmt.Fprintf(&text, "    %q by mia, who was promoted: %s\n", to, got)
				}
			}
		}
		fmt.Fprintf(&text, "    %q while the media server is away: %s\n\n", about[0], life(t, c, about[0], nil, true))
	}
	file := filepath.Join("testdata", "commands.golden")
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("lives (-want +got); where they should be so, run this test with -update:\n%s", diff)
	}
}

// TestOrders: several commands in one order, and decisions about a participant and about the user beside each other.
func TestOrders(t *testing.T) {
	type decisions = []v1alpha1.ParticipantDecision
	sources := func(list ...v1alpha1.ParticipantSource) []v1alpha1.ParticipantSource { return list }
	mia := &Actor{Identity: "mia-1"}
	for _, tc := range []struct {
		reason  string
		decided decisions
		order   Order
		// Ann may not use this afterwards. An error leaves all as it was.
		forbidden engine.Abilities
		err       error
	}{
		{
			"a lock of one leaves what is locked of the user", decisions{{Identity: "user:ann", Sources: sources("Microphone", "Camera")}},
			Order{Commands: []string{"lockCamera"}, To: "ann-1"}, engine.Microphone | engine.Camera | engine.Screen, nil,
		},
		{
			"to allow one to speak leaves the screen as it is", decisions{{Identity: "ann-1", Sources: sources("Camera", "Screen")}, {Identity: "user:ann", Sources: sources("Camera")}},
			Order{Commands: []string{"allowToSpeak"}, To: "ann-1"}, 0, nil,
		},
		{"to allow the user to speak unlocks the link", decisions{{Identity: "ann-1", Muted: true}}, Order{Commands: []string{"allowToSpeak"}, To: "user:ann"}, 0, nil},
		{"to allow a device that is gone unlocks the user", decisions{{Identity: "user:ann", Muted: true}, {Identity: "ann-1", Admitted: true}}, Order{Commands: []string{"allowToSpeak"}, To: "ann-3"}, 0, nil},
		{
			"to allow to speak counts beside other grants", nil,
			Order{Commands: []string{"grantedSources", "allowToSpeak"}, To: "ann-1", Values: Values{Decision: v1alpha1.ParticipantDecision{GrantedSources: sources("Camera")}}}, 0, nil,
		},
		{"a hand of a user, with what lasts", nil, Order{Commands: []string{"muted", "hand"}, To: "user:ann", Values: asked()}, engine.Microphone, errLeft},
		{"a hand of a device that is gone, with a mute", nil, Order{Commands: []string{"mute", "hand"}, To: "ann-3"}, engine.Microphone, errLeft},
		{"a ban by a promoted presenter", nil, Order{Commands: []string{"ban"}, To: "ann-1", By: mia}, engine.Microphone, errRankOfUser},
		{"an order of a presenter who was removed", decisions{{Identity: "mia-1", Removed: true, Role: v1alpha1.RolePresenter}}, Order{Commands: []string{"promote"}, To: "ann-1", By: mia}, engine.Microphone, errDemoted},
		{"a command that there is not", nil, Order{Commands: []string{"lock", "fly"}}, engine.Microphone, &fault.Error{Kind: fault.KindInvalid}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t)
			w.spec.Participants = slices.DeleteFunc(w.spec.Participants, func(d v1alpha1.ParticipantDecision) bool {
				return d.Identity == "ann-1" || d.Identity == "mia-1" && len(tc.decided) > 0
			})
			w.spec.Participants = append(w.spec.Participants, tc.decided...)
			before := w.spec.DeepCopy()
			_, err := w.Do(t.Context(), w.tenant, w.view(), tc.order)
			if got := (*fault.Error)(nil); tc.err != nil && (!errors.As(err, &got) || !fault.Is(tc.err, got.Kind) || !reflect.DeepEqual(before, &w.spec) || len(w.acts) > 0) {
				t.Fatalf("error %v, want %v; decided %+v, done %q", err, tc.err, w.spec.Participants, w.acts)
			}
			if tc.err == nil && err != nil {
				t.Fatal(err)
			}
			ann := engine.Participant{Identity: "ann-1", Traits: engine.Traits{Username: "ann"}}
			if got := w.view().RightsOf(ann).Forbidden; got != tc.forbidden {
				t.Errorf("Ann may not use %q, want %q; decided %+v", got.Names(), tc.forbidden.Names(), w.spec.Participants)
			}
		})
	}
}

// TestNoListOfParticipants: while the media server gives no list, a presenter removes participants, and nothing that has to be known is guessed.
func TestNoListOfParticipants(t *testing.T) {
	paula := &Actor{Identity: "paula-1", Granted: true}
	for order, done := range map[*Order]bool{
		{Commands: []string{"remove"}, To: "ann-1", By: paula}: true, {Commands: []string{"remove"}, To: "user:eve", By: paula}: true,
		{Commands: []string{"remove"}, To: "user:invented", By: paula}: false, {Commands: []string{"ban"}, To: "ann-1", By: paula}: false,
		{Commands: []string{"ban"}, To: "user:eve"}: true, {Commands: []string{"mute"}, To: "ann-1"}: false,
		{Commands: []string{"muted", "mute"}, To: "ann-1", Values: asked()}: false,
	} {
		w := newWorld(t)
		w.away = true
		before := w.spec.DeepCopy()
		got, err := w.Do(t.Context(), w.tenant, w.view(), *order)
		if changed := !reflect.DeepEqual(before, &w.spec); changed != done || (got.Late != nil) != done || (err == nil) != done {
			t.Errorf("%v of %q: late %v, error %v, changed %t", order.Commands, order.To, got.Late, err, changed)
		}
	}
}

var errNoUnmute = fault.Conflict("LiveKit unmutes nobody")

// TestARefusalForOneStopsNothingForOthers: what the media server refuses for one participant is done for all others, and the error is returned.
func TestARefusalForOneStopsNothingForOthers(t *testing.T) {
	w := newWorld(t)
	w.unmutesNobody = true
	values := Values{Policy: map[engine.Abilities]v1alpha1.Audience{engine.Camera: v1alpha1.Presenters}}
	_, err := w.Do(t.Context(), w.tenant, w.view(), Order{Commands: []string{"policy"}, Values: values})
	if !errors.Is(err, errNoUnmute) {
		t.Errorf("error is %v", err)
	}
	for _, who := range []string{"ann-1", "ann-2", "bob-1"} {
		if !slices.ContainsFunc(w.acts, func(act string) bool { return strings.HasPrefix(act, "rights of "+who) }) {
			t.Errorf("nothing was done to %s: %q", who, w.acts)
		}
	}
}

// TestWhatDoesNotLastIsNotSaved: the media server goes away between the list and the act, after a grant was taken back.
func TestWhatDoesNotLastIsNotSaved(t *testing.T) {
	w := newWorld(t)
	w.breaks = true
	if got, err := w.Do(t.Context(), w.tenant, w.view(), Order{Commands: []string{"mute"}, To: "ann-1"}); err == nil {
		t.Errorf("the mute is done or saved: %+v", got)
	}
	if got, err := w.Do(t.Context(), w.tenant, w.view(), Order{Commands: []string{"lockMicrophone"}, To: "ann-1"}); err != nil || got.Late == nil {
		t.Errorf("the lock is not saved: %v", err)
	}
}
