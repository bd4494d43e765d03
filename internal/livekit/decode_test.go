// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
)

func TestDecodeMetadata(t *testing.T) {
	cases := map[string]struct {
		in   string
		want roomMetadata
		ok   bool
	}{
		"nothing told":   {`{}`, roomMetadata{}, true},
		"an expiry":      {`{"expiresAt":"2031-02-03T04:05:06Z"}`, roomMetadata{ExpiresAt: time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)}, true},
		"an end":         {`{"ended":true,"redirect":"https://e.com"}`, roomMetadata{Ended: true, Redirect: "https://e.com"}, true},
		"no metadata":    {``, roomMetadata{}, false},
		"another's":      {`hello`, roomMetadata{}, false},
		"another's JSON": {`{"ended":"yes"}`, roomMetadata{}, false},
		"no such time":   {`{"expiresAt":"tomorrow"}`, roomMetadata{}, false},
		"half of an end": {`{"ended":true`, roomMetadata{}, false},
		"more than ours": {`{"ended":true,"more":1}`, roomMetadata{Ended: true}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := decodeMetadata(c.in)
			if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
				t.Errorf("ok is %t, want %t; metadata (-want +got):\n%s", ok, c.ok, diff)
			}
		})
	}
}

func FuzzDecodeMetadata(f *testing.F) {
	f.Add(`{"expiresAt":"2031-02-03T04:05:06Z","ended":true,"redirect":"https://e.com"}`)
	f.Add(``)
	f.Add(`{"expiresAt":"2031-02-03T04:05:06.789+23:59"}`)
	f.Fuzz(func(t *testing.T, in string) {
		m, ok := decodeMetadata(in)
		if !ok {
			if !m.equal(roomMetadata{}) {
				t.Errorf("%q is not ours, yet says %+v", in, m)
			}
			return
		}
		m.ExpiresAt = m.ExpiresAt.UTC()
		encoded, err := m.encode()
		if err != nil {
			return // a year that JSON cannot say
		}
		if again, ok := decodeMetadata(encoded); !ok || !again.equal(m) {
			t.Errorf("%+v becomes %q and then %+v", m, encoded, again)
		}
	})
}

// sealed is {"Windows", "Firefox"} for i in m-1 under "secret", as it was once sealed: running meetings outlive an
// upgrade, so this must stay readable.
const sealed = "TzRJd3C3lUMbJg8gZYj1zWbygDEMgz3CwlDdAsHAxG6/AcH7X5+z+rtYrMy8fXbbuL/h0anBwgYhPO6S7UU63/zqztainU2Dt1F11aSNz2gyVGdgWAS+zQHkDPWgbqwnEAdF0kHxxwr+rzGFVN25bUR8BIXFouVo7eg3bei6LfRo9JEgeqSbRml3phzgAg/OalrOw+PPsGPLeNS+"

// FuzzParticipant decodes attributes: what a trait is told by must be told back by it.
func FuzzParticipant(f *testing.F) {
	sealer, err := newSealer("secret")
	if err != nil {
		f.Fatal(err)
	}
	c := &client{sealer: sealer}
	f.Add("true", "true", "true", "true", "https://e.com/a.png", "true", sealed)
	f.Add("", "", "false", "TRUE", "", "1", "")
	f.Add("", "", "", "", "", "", "AAAA")
	f.Fuzz(func(t *testing.T, presenter, promoted, chat, notify, avatar, hand, device string) {
		p := c.participant("m-1", &lk.ParticipantInfo{Identity: "i", Attributes: map[string]string{
			attributePresenter: presenter, attributePromoted: promoted, attributeChat: chat, attributeNotify: notify, attributeAvatar: avatar,
			attributeHand: hand, attributeClient: device,
		}})
		want := engine.Traits{
			Presenter: presenter == "true", Promoted: promoted == "true", Granted: presenter == "true", Chat: chat == "true", Notify: notify == "true", Avatar: avatar,
		}
		if strings.NewReplacer("\r", "", "\n", "").Replace(device) == sealed { // base64 ignores line breaks
			want.OS, want.Browser = "Windows", "Firefox"
		}
		if diff := cmp.Diff(want, p.Traits); diff != "" {
			t.Errorf("traits (-want +got):\n%s", diff)
		}
		if p.Hand != (hand == "true") {
			t.Errorf("hand %q is %t", hand, p.Hand)
		}
		open := p.Traits
		open.OS, open.Browser, open.Granted = "", "", false
		if diff := cmp.Diff(open, traitsOf(attributesOf(p.Traits))); diff != "" {
			t.Errorf("traits there and back (-want +got):\n%s", diff)
		}
	})
}

func TestOpenOnlyWhatWasSealedForThis(t *testing.T) {
	ours, err := newSealer("secret")
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := newSealer("another")
	if err != nil {
		t.Fatal(err)
	}
	again, err := ours.seal(note{OS: "Windows", Browser: "Firefox"}, "m-1", "i")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		by   sealer
		room engine.RoomName
		who  engine.Identity
		want note
	}{
		"for this one":      {ours, "m-1", "i", note{OS: "Windows", Browser: "Firefox"}},
		"of another room":   {ours, "m-2", "i", note{}},
		"of another's":      {ours, "m-1", "j", note{}},
		"of another secret": {rotated, "m-1", "i", note{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, box := range []string{sealed, again} {
				if got := c.by.open(box, c.room, c.who); got != c.want {
					t.Errorf("opened %+v, want %+v", got, c.want)
				}
			}
		})
	}
}

func TestRightsBecomeAPermission(t *testing.T) {
	const camera, microphone = lk.TrackSource_CAMERA, lk.TrackSource_MICROPHONE
	const screen, screenAudio = lk.TrackSource_SCREEN_SHARE, lk.TrackSource_SCREEN_SHARE_AUDIO
	sound := func(s lk.TrackSource) *lk.TrackInfo { return &lk.TrackInfo{Source: s, Type: lk.TrackType_AUDIO} }
	picture := func(s lk.TrackSource) *lk.TrackInfo { return &lk.TrackInfo{Source: s, Type: lk.TrackType_VIDEO} }
	may := func(s ...lk.TrackSource) *lk.ParticipantPermission {
		return &lk.ParticipantPermission{CanSubscribe: true, CanPublish: len(s) > 0, CanPublishSources: s}
	}
	forbidden := func(what engine.Abilities) engine.Rights { return engine.Rights{Forbidden: what} }
	watching := &lk.ParticipantPermission{CanSubscribe: true, Hidden: true, CanSubscribeMetrics: true}
	all := may(camera, microphone, screen, screenAudio)
	presenter, disguised := map[string]string{"presenter": "true"}, map[string]string{"disguises": "CAMERA"}
	held := map[string]string{"held": "microphone"}
	cases := map[string]struct {
		tracks      []*lk.TrackInfo
		attributes  map[string]string
		had         *lk.ParticipantPermission
		rights      engine.Rights
		want        *lk.ParticipantPermission
		wantChanged map[string]string
	}{
		"every source of sound goes": {
			[]*lk.TrackInfo{sound(microphone), picture(camera), sound(screenAudio)}, nil, all, forbidden(engine.Microphone), may(camera, screen), nil,
		},
		"the camera goes":                {nil, nil, all, forbidden(engine.Camera), may(microphone, screen, screenAudio), nil},
		"the screen goes with its sound": {nil, nil, all, forbidden(engine.Screen), may(camera, microphone), nil},
		"chat is not the engine's":       {nil, nil, all, forbidden(engine.Chat), nil, nil},
		"none named means all": {
			nil, nil, &lk.ParticipantPermission{CanSubscribe: true, CanPublish: true}, forbidden(engine.Microphone), may(camera, screen), nil,
		},
		"none left means none": {nil, nil, may(microphone), forbidden(engine.Media), may(), nil},
		"a disguise goes too": {
			[]*lk.TrackInfo{sound(camera)}, nil, may(camera, microphone, screen), forbidden(engine.Microphone), may(screen), disguised,
		},
		"a disguise stays forbidden": {nil, disguised, may(screen), forbidden(engine.Microphone), nil, nil},
		"until sound is allowed":     {nil, disguised, may(screen), forbidden(0), all, map[string]string{"disguises": ""}},
		"a picture goes that is called a microphone": {
			[]*lk.TrackInfo{picture(microphone)}, nil, all, forbidden(engine.Camera), may(screen, screenAudio), map[string]string{"disguises": "MICROPHONE"},
		},
		"a microphone that is locked later is no disguise": {
			nil, map[string]string{"disguises": "MICROPHONE"}, may(screen, screenAudio), forbidden(engine.Microphone | engine.Camera), may(screen),
			map[string]string{"disguises": ""},
		},
		"nor is a camera": {
			nil, disguised, may(screen), forbidden(engine.Microphone | engine.Camera), may(screen), map[string]string{"disguises": ""},
		},
		"a disguise is allowed with what it hid": {nil, disguised, may(microphone, screenAudio), forbidden(engine.Screen), may(microphone, camera), map[string]string{"disguises": ""}},
		"again":                                  {nil, nil, may(screen, camera), forbidden(engine.Microphone), nil, nil},
		"a hidden peer stays so":                 {nil, nil, watching, forbidden(engine.Media), nil, nil},
		"a participant without any":              {nil, nil, nil, forbidden(engine.Media), nil, nil},
		"the reason is a decision":               {nil, nil, all, engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}, may(camera, screen), held},
		"the reason becomes the policy":          {nil, held, may(camera, screen), forbidden(engine.Microphone), may(camera, screen), map[string]string{"held": ""}},
		"a presenter is made":                    {nil, nil, all, engine.Rights{Presenter: true}, all, presenter},
		"a presenter is promoted": {
			nil, nil, all, engine.Rights{Presenter: true, Promoted: true}, all, map[string]string{"presenter": "true", "promoted": "true"},
		},
		"a promoted presenter rises":       {nil, map[string]string{"presenter": "true", "promoted": "true"}, all, engine.Rights{Presenter: true}, all, map[string]string{"promoted": ""}},
		"a presenter is one no more":       {nil, presenter, all, forbidden(0), all, map[string]string{"presenter": ""}},
		"a hidden one becomes a presenter": {nil, nil, watching, engine.Rights{Presenter: true}, watching, presenter},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := updateOf(&lk.ParticipantInfo{Tracks: c.tracks, Attributes: c.attributes, Permission: c.had}, c.rights)
			if c.want == nil {
				if got != nil {
					t.Errorf("the update is %v, want none", got)
				}
				return
			}
			if got == nil || !samePermission(got.GetPermission(), c.want) {
				t.Fatalf("the update is %v, want %v", got, c.want)
			}
			if c.wantChanged == nil {
				c.wantChanged = map[string]string{}
			}
			if diff := cmp.Diff(c.wantChanged, got.GetAttributes()); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
			now := &lk.ParticipantInfo{Permission: got.GetPermission(), Attributes: maps.Clone(c.attributes)}
			if now.Attributes == nil {
				now.Attributes = map[string]string{}
			}
			maps.Copy(now.Attributes, got.GetAttributes())
			back := forbiddenOf(now.GetPermission(), parseSources(now.GetAttributes()["disguises"]))
			if !c.had.GetHidden() && back != c.rights.Forbidden&engine.Media {
				t.Errorf("read back as %b, want %b", back, c.rights.Forbidden)
			}
			if again := updateOf(now, c.rights); again != nil {
				t.Errorf("the next update is %v, want none", again)
			}
		})
	}
}
