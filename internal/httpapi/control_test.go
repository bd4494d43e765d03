// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/client"
	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/moderation"
	"convene.dev/convene/internal/tenant"
)

// fakeModerator keeps what it was asked, and changes the meetings of a fake.
type fakeModerator struct {
	meetings *fakeMeetings
	people   []engine.Participant
	waiting  []engine.Participant
	spec     v1alpha1.MeetingSpec
	did      []string
	commands []string
	late     error
	err      error
}

// Do applies the commands of the table, but for removals, and keeps what was done.
func (f *fakeModerator) Do(_ context.Context, t *tenant.Tenant, v meeting.View, o moderation.Order) (moderation.Outcome, error) {
	if f.err != nil {
		return moderation.Outcome{View: v}, f.err
	}
	spec, did := *f.spec.DeepCopy(), []string{}
	f.commands = o.Commands
	for _, name := range o.Commands {
		c, known := moderation.Find(name)
		switch {
		case !known:
			return moderation.Outcome{View: v}, fault.Invalid("", "There is no command %s", name)
		case c.Removes:
			did = append(did, fmt.Sprintf("remove %s from %s, ban %t", o.To, v.Room, name == "ban"))
		case c.OnOne && !c.Lasts && name != "hand":
			did = append(did, fmt.Sprintf("%s %s", name, o.To))
		case name == "muteAll":
			did = append(did, "mute all in "+v.Room)
		case c.Apply != nil:
			c.Apply(&spec, moderation.Facts{Order: o, Control: meeting.ControlOf(t.Settings, &spec), Door: f.waiting})
			written := "decide " + v.Room
			if o.To == "" {
				written = "change " + v.Room
			}
			if !slices.Contains(did, written) {
				did = append(did, written)
			}
		case name == "hand":
			did = append(did, fmt.Sprintf("hand of %s in %s %t", o.To, v.Room, o.Raised))
		case name == "announce":
			did = append(did, fmt.Sprintf("say %q as %q to %q in %s", o.Notice.Text, o.Notice.ID, o.To, v.Room))
		}
	}
	if err := t.Settings.ValidateChange(&f.spec, &spec); err != nil {
		return moderation.Outcome{View: v}, err
	}
	f.spec = spec
	f.did = append(f.did, did...)
	v.Control = meeting.ControlOf(t.Settings, &f.spec)
	v.Redirect = string(f.spec.Redirect)
	v.MaxParticipants = t.Settings.ParticipantLimit(f.spec.MaxParticipants)
	v.Length, _ = t.Settings.Length(f.spec.Duration)
	v.Expires = v.Length.After(v.Created)
	got := moderation.Outcome{View: v}
	if slices.ContainsFunc(o.Commands, func(name string) bool { c, _ := moderation.Find(name); return c.Lasts }) {
		got.Late = f.late
	}
	return got, nil
}

func (f *fakeModerator) Participants(context.Context, *tenant.Tenant, meeting.View) ([]engine.Participant, error) {
	return f.people, f.err
}

func (f *fakeModerator) Waiting(context.Context, *tenant.Tenant, meeting.View) ([]engine.Participant, error) {
	return f.waiting, f.err
}

// withControl names the extension.
func withControl(t *tenant.Tenant) { *t = t.Switch(nil, nil, string(tenant.Control)) }

// controlCalls is a good request of each kind, and how a good answer begins.
var controlCalls = []struct{ method, path, body, begins string }{
	{http.MethodGet, "meeting/stand-up", "", `{"roomId":"stand-up","url":"`},
	{http.MethodPatch, "meeting/stand-up", `{"locked":true}`, `{"roomId":"stand-up","url":"`},
	{http.MethodGet, "meeting/stand-up/participants", "", `{"participants":[`},
	{http.MethodPatch, "meeting/stand-up/participants/ann-1", `{"muted":true}`, `{"success":true,"room":"stand-up","identity":"ann-1"}`},
	{http.MethodDelete, "meeting/stand-up/participants/ann-1", "", `{"success":true,"room":"stand-up","identity":"ann-1"}`},
	{http.MethodPost, "meeting/stand-up/announcements", `{"text":"Hello"}`, `{"success":true,"room":"stand-up"}`},
}

// TestControlMatrix: every call of the extension, named and not, with every form of credential, in both variants.
func TestControlMatrix(t *testing.T) {
	for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
		for _, named := range []bool{true, false} {
			one := testTenant(variant)
			if named {
				withControl(one)
			}
			w := newWorld(t, one).serveRouted()
			for _, form := range credentialForms {
				for _, c := range controlCalls {
					w.meetings.reset("stand-up")
					w.moderator.did = nil
					got := w.do(c.method, c.path, c.body, header("Authorization", form.values(rightKey, neighbourKey)...))
					status, body := http.StatusOK, c.begins
					switch {
					case !named && variant == v1alpha1.VariantA && !strings.Contains(c.path, "stand-up/"):
						status, body = http.StatusMethodNotAllowed, `{"error":"`
					case !named:
						status, body = http.StatusNotFound, `{"error":"`+errUnknownPath.Message+`"}`
					case !form.right:
						status, body = http.StatusForbidden, `{"error":"`+errUnauthorized.Message+`"}`
					}
					if got.status != status || !strings.HasPrefix(got.body, body) {
						t.Errorf("variant %s, named %t, %s %s with %s: %d %s, want %d %s", variant, named, c.method, c.path, form.reason, got.status, got.body, status, body)
					}
					if status != http.StatusOK && len(w.moderator.did) > 0 {
						t.Errorf("%s %s with %s: refused, and done: %v", c.method, c.path, form.reason, w.moderator.did)
					}
				}
				w.pass(time.Minute)
			}
		}
	}
}

func TestMeetingPatch(t *testing.T) {
	yes, no, ten := true, false, int32(10)
	before := v1alpha1.MeetingSpec{
		Duration: "1h", MaxParticipants: &ten, Redirect: "https://a.example/", Locked: &yes,
		Policy: &v1alpha1.MeetingPolicy{Microphone: "Presenters", Chat: "Presenters"},
	}
	changed := func(change func(*v1alpha1.MeetingSpec)) v1alpha1.MeetingSpec {
		spec := *before.DeepCopy()
		change(&spec)
		return spec
	}
	for _, tc := range []struct {
		reason, body string
		status       int
		want         v1alpha1.MeetingSpec
	}{
		{"a length", `{"duration":"01:30:00"}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Duration = "1h30m" })},
		{"no end", `{"duration":"unlimited"}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Duration = "unlimited" })},
		{"the default length", `{"duration":null}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Duration = "" })},
		{"a wrong length", `{"duration":"1h"}`, 400, before},
		{"a limit", `{"maxParticipants":3}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.MaxParticipants = new(int32(3)) })},
		{"no limit of its own", `{"maxParticipants":null}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.MaxParticipants = nil })},
		{"a limit over the operator's", `{"maxParticipants":301}`, 400, before},
		{"a redirect", `{"redirect":"https://b.example/"}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Redirect = "https://b.example/" })},
		{"the home page", `{"redirect":""}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Redirect = "" })},
		{"a redirect to a script", `{"redirect":"javascript:x"}`, 400, before},
		{"unlocked", `{"locked":false}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Locked = &no })},
		{"locked as the operator has it", `{"locked":null}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Locked = nil })},
		{"locked in a word", `{"locked":"tight"}`, 400, before},
		{"who has to ask", `{"admission":"ask"}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Admission = "Ask" })},
		{"who has to wait, as the operator has it", `{"admission":null}`, 200, before},
		{"a door that there is not", `{"admission":"Ajar"}`, 400, before},
		{"all who wait", `{"admitAll":true}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.AdmittedUntil = &metav1.Time{Time: start} })},
		{"all who wait, and others too", `{"admitAll":true,"admission":"Open"}`, 200, changed(func(s *v1alpha1.MeetingSpec) {
			s.Admission, s.AdmittedUntil = "Open", &metav1.Time{Time: start}
		})},
		{"nobody who waits", `{"admitAll":false}`, 400, before},
		{"all microphones off", `{"muteAll":true}`, 200, before},
		{"no microphone off", `{"muteAll":false}`, 400, before},
		{"a part of the policy", `{"policy":{"microphone":"everyone","camera":"PRESENTERS"}}`, 200, changed(func(s *v1alpha1.MeetingSpec) {
			s.Policy = &v1alpha1.MeetingPolicy{Microphone: "Everyone", Camera: "Presenters", Chat: "Presenters"}
		})},
		{"a part taken back", `{"policy":{"microphone":null}}`, 200, changed(func(s *v1alpha1.MeetingSpec) {
			s.Policy = &v1alpha1.MeetingPolicy{Chat: "Presenters"}
		})},
		{"all parts taken back", `{"policy":{"microphone":null,"chat":null}}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Policy = nil })},
		{"the policy taken back", `{"policy":null}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Policy = nil })},
		{"nothing of the policy", `{"policy":{"hats":"Everyone"}}`, 400, before},
		{"a policy for others", `{"policy":{"chat":"Friends"}}`, 400, before},
		{"a policy in a word", `{"policy":"Presenters"}`, 400, before},
		{"several at once", `{"locked":false,"duration":"00:10:00","unknown":1}`, 200, changed(func(s *v1alpha1.MeetingSpec) { s.Locked, s.Duration = &no, "10m" })},
		{"one of several wrong", `{"locked":false,"duration":"soon"}`, 400, before},
		{"nothing", `{}`, 400, before},
		{"nothing that is known", `{"name":"x"}`, 400, before},
		{"no object", `[1]`, 400, before},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, testTenant(v1alpha1.VariantB, withControl)).serve()
			w.meetings.reset("stand-up")
			w.moderator.spec = *before.DeepCopy()
			w.moderator.waiting = []engine.Participant{{Identity: "ann-1", Traits: engine.Traits{Since: start}}}
			for range 2 { // The second call changes nothing.
				if got := w.do(http.MethodPatch, "meeting/stand-up", tc.body); got.status != tc.status {
					t.Fatalf("%d %s, want %d", got.status, got.body, tc.status)
				}
				if diff := cmp.Diff(tc.want, w.moderator.spec); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// TestPolicyOfEachAbility: PATCH and the Go client have every ability by its name.
func TestPolicyOfEachAbility(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantB, withControl)).serve()
	w.meetings.reset("stand-up")
	for _, a := range engine.AllAbilities() {
		w.moderator.spec = v1alpha1.MeetingSpec{}
		if got := w.do(http.MethodPatch, "meeting/stand-up", `{"policy":{"`+a.Name+`":"Presenters"}}`); got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", a.Name, got.status, got.body)
		}
		if diff := cmp.Diff(meeting.PolicyOf(a.Abilities), w.moderator.spec.Policy); diff != "" {
			t.Errorf("%s (-want +got)\n%s", a.Name, diff)
		}
		var known client.Policy
		if err := json.Unmarshal([]byte(`{"`+a.Name+`":"Presenters"}`), &known); err != nil || known == (client.Policy{}) {
			t.Errorf("the Go client does not know %s of a policy", a.Name)
		}
	}
}

func TestParticipantPatch(t *testing.T) {
	before := v1alpha1.ParticipantDecision{Identity: "ann-1", Muted: true, Role: "Presenter", Promoted: true, Sources: []v1alpha1.ParticipantSource{"Camera"}}
	changed := func(change func(*v1alpha1.ParticipantDecision)) v1alpha1.ParticipantDecision {
		d := *before.DeepCopy()
		change(&d)
		return d
	}
	for _, tc := range []struct {
		reason, body string
		status       int
		want         v1alpha1.ParticipantDecision
		did          string
	}{
		{"no presenter", `{"role":"participant"}`, 200, changed(func(d *v1alpha1.ParticipantDecision) { d.Role, d.Promoted = "Participant", false }), "decide stand-up"},
		{"a presenter above those in the room", `{"role":"Presenter"}`, 200, changed(func(d *v1alpha1.ParticipantDecision) { d.Promoted = false }), "decide stand-up"},
		{"the role that they came with", `{"role":null}`, 200, changed(func(d *v1alpha1.ParticipantDecision) { d.Role, d.Promoted = "", false }), "decide stand-up"},
		{"a role that there is not", `{"role":"King"}`, 400, before, ""},
		{"may speak", `{"muted":false}`, 200, changed(func(d *v1alpha1.ParticipantDecision) { d.Muted = false }), "decide stand-up"},
		{"sources", `{"sources":["screen","MICROPHONE","screen"]}`, 200, changed(func(d *v1alpha1.ParticipantDecision) {
			d.Sources = []v1alpha1.ParticipantSource{"Screen", "Microphone"}
		}), "decide stand-up"},
		{"no source", `{"sources":[]}`, 200, changed(func(d *v1alpha1.ParticipantDecision) { d.Sources = []v1alpha1.ParticipantSource{} }), "decide stand-up"},
		{"all sources", `{"sources":null}`, 200, changed(func(d *v1alpha1.ParticipantDecision) { d.Sources = nil }), "decide stand-up"},
		{"what is granted", `{"grantedSources":["Screen","microphone"]}`, 200, changed(func(d *v1alpha1.ParticipantDecision) {
			d.GrantedSources = []v1alpha1.ParticipantSource{"Microphone", "Screen"}
		}), "decide stand-up"},
		{"nothing is granted", `{"grantedSources":[]}`, 200, before, "decide stand-up"},
		{"a grant of what there is not", `{"grantedSources":["Smell"]}`, 400, before, ""},
		{"a source that there is not", `{"sources":["Smell"]}`, 400, before, ""},
		{"sources that are no list", `{"sources":"Camera"}`, 400, before, ""},
		{"admitted", `{"admitted":true}`, 200, changed(func(d *v1alpha1.ParticipantDecision) { d.Admitted = true }), "decide stand-up"},
		{"a hand alone", `{"hand":false}`, 200, before, "hand of ann-1 in stand-up false"},
		{"several", `{"muted":false,"hand":true}`, 200, changed(func(d *v1alpha1.ParticipantDecision) { d.Muted = false }), "decide stand-up, hand of ann-1 in stand-up true"},
		{"all that is on turned off", `{"media":{"audio":false,"video":false,"screen":false}}`, 200, before, "mute ann-1, stopCamera ann-1, stopScreen ann-1"},
		{"a microphone turned off", `{"media":{"audio":false,"video":null}}`, 200, before, "mute ann-1"},
		{"a microphone turned on", `{"media":{"audio":true}}`, 400, before, ""},
		{"nothing turned off", `{"media":{}}`, 400, before, ""},
		{"a word for what is on", `{"media":"off"}`, 400, before, ""},
		{"the word", `{"allowToSpeak":true}`, 200, changed(func(d *v1alpha1.ParticipantDecision) {
			d.Muted, d.Sources = false, []v1alpha1.ParticipantSource{"Microphone", "Camera"}
		}), "decide stand-up"},
		{"asked to speak", `{"askToUnmute":true}`, 200, before, "askToUnmute ann-1"},
		{"not asked to speak", `{"askToUnmute":false}`, 400, before, ""},
		{"nothing", `{}`, 400, before, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
			w.meetings.reset("stand-up")
			w.moderator.spec.Participants = []v1alpha1.ParticipantDecision{*before.DeepCopy()}
			got := w.do(http.MethodPatch, "meeting/stand-up/participants/ann-1", tc.body)
			if got.status != tc.status {
				t.Fatalf("%d %s, want %d", got.status, got.body, tc.status)
			}
			if diff := cmp.Diff(tc.want, w.moderator.spec.Participants[0]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if did := strings.Join(w.moderator.did, ", "); did != tc.did {
				t.Errorf("did %q, want %q", did, tc.did)
			}
		})
	}
}

// TestControlPaths: what else can be asked, and what is refused with what to do.
func TestControlPaths(t *testing.T) {
	for _, tc := range []struct {
		reason, method, path, body string
		status                     int
		did, says                  string
	}{
		{"a user, now or later", "PATCH", "participants/user:anna%20b", `{"role":"Presenter"}`, 200, "decide stand-up", ""},
		{"no identity", "PATCH", "participants/a%20b", `{"muted":true}`, 400, "", "identity"},
		{"removed for good", "DELETE", "participants/ann-1", `{"ban":true}`, 200, "remove ann-1 from stand-up, ban true", ""},
		{"a ban in a word", "DELETE", "participants/ann-1", `{"ban":"hard"}`, 400, "", "ban must be true or false"},
		{"an announcement to one", "POST", "announcements", `{"text":" Hi ","to":"ann-1","id":"7"}`, 200, `say " Hi " as "7" to "ann-1" in stand-up`, ""},
		{"an announcement without text", "POST", "announcements", `{"text":" "}`, 400, "", "text is required"},
		{"an announcement that is too long", "POST", "announcements", `{"text":"` + strings.Repeat("ä", 501) + `"}`, 400, "", "at most 500"},
		{"an announcement to nothing", "POST", "announcements", `{"text":"x","to":"a b"}`, 400, "", "to must be"},
		{"an id that is too long", "POST", "announcements", `{"text":"x","id":"` + strings.Repeat("x", 65) + `"}`, 400, "", "id must"},
		{"no page", "GET", "participants?limit=0", "", 400, "", "limit must be"},
		{"a page of nonsense", "GET", "participants?after=x", "", 400, "", "after must be"},
	} {
		w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
		w.meetings.reset("stand-up")
		got := w.do(tc.method, "meeting/stand-up/"+tc.path, tc.body)
		if got.status != tc.status || !strings.Contains(got.body, tc.says) {
			t.Errorf("%s: %d %s, want %d with %q", tc.reason, got.status, got.body, tc.status, tc.says)
		}
		if did := strings.Join(w.moderator.did, ", "); did != tc.did {
			t.Errorf("%s: did %q, want %q", tc.reason, did, tc.did)
		}
	}
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	w.meetings.reset("stand-up")
	for _, c := range controlCalls {
		if got := w.do(c.method, strings.Replace(c.path, "stand-up", "nobody", 1), c.body); got.status != http.StatusNotFound {
			t.Errorf("%s %s of an unknown room: %d %s", c.method, c.path, got.status, got.body)
		}
		w.moderator.err = fault.Unavailable("The Kubernetes API server cannot be reached")
		if got := w.do(c.method, c.path, c.body); got.status != http.StatusServiceUnavailable && c.path != "meeting/stand-up" {
			t.Errorf("%s %s with the API server away: %d %s", c.method, c.path, got.status, got.body)
		}
		w.moderator.err, w.moderator.late = nil, fault.Unavailable("The media server cannot be reached")
		if got := w.do(c.method, c.path, c.body); got.status != http.StatusAccepted && c.method != http.MethodGet && c.method != http.MethodPost {
			t.Errorf("%s %s with the media server away: %d %s", c.method, c.path, got.status, got.body)
		}
		w.moderator.late = nil
	}
}

// TestOneMeetingIsAsInTheListing: it has all that the listing has of it. Where Meetings show no names, the media server is asked.
func TestOneMeetingIsAsInTheListing(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	w.meetings.reset("stand-up")
	v := &w.meetings.live[0]
	v.Started, v.Expires, v.Status = start, start.Add(time.Hour), &v1alpha1.MeetingStatus{ParticipantCount: 1}
	v.Peers = []v1alpha1.Participant{{Identity: "ann-1", Name: "Ann", Presenter: true, Audio: true, Hand: true, OS: "Linux", Browser: "Firefox 145"}}
	listed := w.do(http.MethodGet, "meetings", "").json(t)["meetings"].([]any)[0].(map[string]any)
	one := w.do(http.MethodGet, "meeting/stand-up", "").json(t)
	for member, value := range listed {
		if diff := cmp.Diff(value, one[member]); diff != "" {
			t.Errorf("%s (-listing +one)\n%s", member, diff)
		}
	}

	w = newWorld(t, testTenant(v1alpha1.VariantA, withControl, func(t *tenant.Tenant) { t.NamesHidden = true })).serve()
	w.meetings.reset("stand-up")
	w.moderator.people = []engine.Participant{{Identity: "bob-1", Name: "Bob", JoinedAt: start}}
	for _, method := range []string{http.MethodGet, http.MethodPatch} {
		peers, _ := w.do(method, "meeting/stand-up", `{"locked":true}`).json(t)["peers"].([]any)
		if len(peers) != 1 || peers[0].(map[string]any)["name"] != "Bob" {
			t.Errorf("%s shows %v", method, peers)
		}
	}
}

// TestControlIsAudited: one line for each change, with whom it was about.
func TestControlIsAudited(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	for _, tc := range []struct{ action, to string }{
		{"", ""}, {"changeMeeting", ""}, {"", ""}, {"changeParticipant", "ann-1"}, {"removeParticipant", "ann-1"}, {"announce", ""},
	} {
		c := controlCalls[0]
		controlCalls = append(controlCalls[1:], c)
		w.meetings.reset("stand-up")
		w.do(c.method, c.path, c.body)
		lines := w.logged()
		if tc.action == "" {
			if len(lines) > 0 {
				t.Errorf("%s %s is logged: %v", c.method, c.path, lines)
			}
			continue
		}
		if len(lines) != 1 || lines[0]["action"] != tc.action || lines[0]["room"] != "stand-up" || lines[0]["to"] != tc.to && tc.to != "" {
			t.Errorf("%s %s is logged as %v", c.method, c.path, lines)
		}
	}
	w.do(http.MethodPatch, "meeting/nobody/participants/ann-1", `{"muted":true}`)
	if lines := w.logged(); len(lines) != 1 || lines[0]["to"] != "ann-1" || lines[0]["status"] != 404.0 {
		t.Errorf("a call that is refused is logged as %v", lines)
	}
}

// TestAllParticipants: page after page, each participant once, also when some leave in between.
func TestAllParticipants(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withControl)).serve()
	w.meetings.reset("stand-up")
	for i := range 250 {
		w.moderator.people = append(w.moderator.people, engine.Participant{
			Identity: engine.Identity(fmt.Sprintf("p%03d-x", i)), Name: "P", JoinedAt: start.Add(time.Duration(i/10) * time.Second),
		})
	}
	w.moderator.people[0].Traits = engine.Traits{Presenter: true, Granted: true, Username: "paula", OS: "Linux", Browser: "Firefox 145"}
	seen := map[string]int{}
	after := ""
	for page := range 4 {
		got := w.do(http.MethodGet, "meeting/stand-up/participants?limit=90&after="+after, "").json(t)
		for _, p := range got["participants"].([]any) {
			seen[p.(map[string]any)["identity"].(string)]++
		}
		next, more := got["next"].(string)
		if !more {
			if page != 2 {
				t.Errorf("page %d is the last", page)
			}
			break
		}
		after = next
		if page == 0 { // The last one of the page leaves.
			w.moderator.people = append(w.moderator.people[:89:89], w.moderator.people[90:]...)
		}
	}
	for i := range 250 {
		if who := fmt.Sprintf("p%03d-x", i); seen[who] != 1 {
			t.Errorf("%s was listed %d times", who, seen[who])
		}
	}
	first := w.do(http.MethodGet, "meeting/stand-up/participants?limit=1", "")
	const want = `{"participants":[{"identity":"p000-x","name":"P","username":"paula","role":"Presenter","promoted":false,"media":{"audio":false,"video":false,"screen":false},` +
		`"hand":false,"hidden":false,"muted":false,"sources":["Microphone","Camera","Screen"],"grantedSources":[],"waiting":false,"os":"Linux","browser":"Firefox 145","joinTime":"2026-03-01T09:30:00Z"}],"next":"1772357400000.p000-x"}`
	if first.body != want {
		t.Errorf("%s\nwant %s", first.body, want)
	}
}

func FuzzReadPage(f *testing.F) {
	f.Add("100", "1772357400000.a-b")
	f.Add("", "")
	f.Add("-1", "..")
	f.Fuzz(func(t *testing.T, limitText, afterText string) {
		p, err := readPage(url.Values{"limit": {limitText}, "after": {afterText}}.Encode())
		if err != nil {
			return
		}
		if p.Limit < 0 || p.Limit > maxPage || (p.Limit == 0) != (limitText == "") {
			t.Errorf("%q becomes %d", limitText, p.Limit)
		}
		if again, err := readPage(url.Values{"after": {p.After.String()}}.Encode()); err != nil || again.After.Compare(p.After) != 0 {
			t.Errorf("%q becomes %+v and then %+v, %v", afterText, p.After, again.After, err)
		}
	})
}
