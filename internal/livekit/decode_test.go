// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

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
			if m != (roomMetadata{}) {
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
	f.Add("true", "true", "true", "https://e.com/a.png", "true", sealed)
	f.Add("", "false", "TRUE", "", "1", "")
	f.Add("", "", "", "", "", "AAAA")
	f.Fuzz(func(t *testing.T, presenter, chat, notify, avatar, hand, device string) {
		p := c.participant("m-1", &lk.ParticipantInfo{Identity: "i", Attributes: map[string]string{
			attributePresenter: presenter, attributeChat: chat, attributeNotify: notify, attributeAvatar: avatar,
			attributeHand: hand, attributeClient: device,
		}})
		want := engine.Traits{Presenter: presenter == "true", Chat: chat == "true", Notify: notify == "true", Avatar: avatar}
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
		open.OS, open.Browser = "", ""
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
	again, err := ours.seal("Windows", "Firefox", "m-1", "i")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		by   sealer
		room engine.RoomName
		who  engine.Identity
		want device
	}{
		"for this one":      {ours, "m-1", "i", device{"Windows", "Firefox"}},
		"of another room":   {ours, "m-2", "i", device{}},
		"of another's":      {ours, "m-1", "j", device{}},
		"of another secret": {rotated, "m-1", "i", device{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, box := range []string{sealed, again} {
				os, browser := c.by.open(box, c.room, c.who)
				if got := (device{os, browser}); got != c.want {
					t.Errorf("opened %+v, want %+v", got, c.want)
				}
			}
		})
	}
}

func TestSilenced(t *testing.T) {
	const camera, microphone = lk.TrackSource_CAMERA, lk.TrackSource_MICROPHONE
	const screen, screenAudio = lk.TrackSource_SCREEN_SHARE, lk.TrackSource_SCREEN_SHARE_AUDIO
	sound := func(s lk.TrackSource) *lk.TrackInfo { return &lk.TrackInfo{Source: s, Type: lk.TrackType_AUDIO} }
	picture := func(s lk.TrackSource) *lk.TrackInfo { return &lk.TrackInfo{Source: s, Type: lk.TrackType_VIDEO} }
	may := func(s ...lk.TrackSource) *lk.ParticipantPermission {
		return &lk.ParticipantPermission{CanSubscribe: true, CanPublish: len(s) > 0, CanPublishSources: s}
	}
	watching := &lk.ParticipantPermission{CanSubscribe: true, Hidden: true, CanSubscribeMetrics: true}
	cases := map[string]struct {
		tracks     []*lk.TrackInfo
		had, leave *lk.ParticipantPermission
	}{
		"every source of sound goes": {
			[]*lk.TrackInfo{sound(microphone), picture(camera), sound(screenAudio)},
			may(camera, microphone, screen, screenAudio), may(camera, screen),
		},
		"none named means all": {
			nil, &lk.ParticipantPermission{CanSubscribe: true, CanPublish: true}, may(camera, screen),
		},
		"none left means none":       {nil, may(microphone), may()},
		"a disguise goes too":        {[]*lk.TrackInfo{sound(camera)}, may(camera, microphone, screen), may(screen)},
		"again":                      {nil, may(camera, screen), may(camera, screen)},
		"a hidden peer stays so":     {nil, watching, watching},
		"a participant without any ": {nil, nil, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := silenced(&lk.ParticipantInfo{Tracks: c.tracks, Permission: c.had})
			if !proto.Equal(got, c.leave) {
				t.Errorf("permission is %v, want %v", got, c.leave)
			}
		})
	}
}
