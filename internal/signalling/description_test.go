// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	lk "github.com/livekit/protocol/livekit"
	"github.com/pion/sdp/v3"
)

// pageOffer has what offers of browsers have: data channels, a track that is sent, in three sizes, and a section for a received track.
var pageOffer = lines(
	"v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1 2", "a=extmap-allow-mixed", "a=msid-semantic: WMS *",
	"m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=ice-ufrag:x", "a=ice-pwd:y", "a=ice-options:trickle",
	"a=fingerprint:sha-256 AA:BB", "a=setup:actpass", "a=mid:0", "a=sctp-port:5000", "a=max-message-size:262144",
	"m=video 9 UDP/TLS/RTP/SAVPF 96 97", "c=IN IP4 0.0.0.0", "a=rtcp:9 IN IP4 0.0.0.0", "a=mid:1", "a=sendonly", "a=msid:- 3f1c", "a=rtcp-mux",
	"a=rtpmap:96 VP8/90000", "a=rtcp-fb:96 nack pli", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96",
	"a=ssrc-group:FID 2231627014 632943048", "a=ssrc:2231627014 cname:x", "a=rid:q send", "a=simulcast:send q",
	"m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", "a=mid:2", "a=recvonly", "a=rtpmap:111 opus/48000/2", "a=fmtp:111 minptime=10;useinbandfec=1",
)

func lines(all ...string) string { return strings.Join(all, "\r\n") + "\r\n" }

func TestDescriptionsOfBrowsersPass(t *testing.T) {
	const candidate = "a=candidate:1 1 udp 2113937151 192.0.2.1 50000 typ host generation 0"
	gathered := strings.Replace(pageOffer, "a=mid:1\r\n", lines("a=mid:1", candidate, "a=end-of-candidates"), 1)
	rejected := pageOffer + lines("m=video 0 UDP/TLS/RTP/SAVPF 0", "c=IN IP4 0.0.0.0", "a=inactive")
	for name, tc := range map[string]struct{ given, want string }{
		"an offer":                 {pageOffer, pageOffer},
		"an offer with candidates": {gathered, strings.Replace(gathered, candidate+"\r\n", "", 1)},
		"an offer with a section that is rejected": {rejected, rejected},
		"600 received tracks":                      {received(600), received(600)},
	} {
		for _, typ := range []string{"offer", "answer"} {
			got, err := description(&lk.SessionDescription{Type: typ, Sdp: tc.given, Id: 7, MidToTrackId: map[string]string{"0": "x"}}, typ)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if diff := cmp.Diff(tc.want, got.GetSdp()); diff != "" || got.GetType() != typ || got.GetId() != 7 || got.GetMidToTrackId() != nil {
				t.Errorf("%s: %v (-want +got)\n%s", name, got, diff)
			}
		}
	}
}

// received is a description with sections for received tracks.
func received(tracks int) string {
	var all strings.Builder
	all.WriteString(pageOffer)
	for i := range tracks {
		all.WriteString(lines("m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", fmt.Sprintf("a=mid:%d", i+3), "a=recvonly", "a=rtpmap:111 opus/48000/2"))
	}
	return all.String()
}

func TestDescriptionsThatAreRefused(t *testing.T) {
	sent := lines("m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=msid:- y", "a=rtpmap:96 VP8/90000")
	for name, given := range map[string]string{
		"nothing that can be parsed": "x\r\n",
		"a long one":                 pageOffer + "a=" + strings.Repeat("x", maxDescription) + "\r\n",
		"many sections":              pageOffer + strings.Repeat("m=audio 9 x 0\r\n", maxSections),
		"many tracks that are sent":  pageOffer + strings.Repeat(sent, maxSent),
		"many attributes":            pageOffer + sent + strings.Repeat("a=x\r\n", maxAttributes),
		"many candidates":            pageOffer + sent + strings.Repeat("a=candidate:x\r\n", maxAttributes),
		"a candidate in disguise":    pageOffer + "a=candidate\r\rxx\r\n",
		"many formats":               pageOffer + "m=audio 9 x" + strings.Repeat(" 1", maxFormats+1) + "\r\n",
	} {
		got, err := description(&lk.SessionDescription{Type: "offer", Sdp: given}, "offer")
		if refused := (*InvalidError)(nil); !errors.As(err, &refused) {
			t.Errorf("%s: %d bytes are passed on, %v", name, len(got.GetSdp()), err)
		}
	}
	if _, err := description(&lk.SessionDescription{Type: "answer", Sdp: pageOffer}, "offer"); err == nil {
		t.Error("an answer is taken for an offer")
	}
}

// TestCandidatesInDescriptionsDoNotPass: whatever they look like.
func TestCandidatesInDescriptionsDoNotPass(t *testing.T) {
	given := strings.Replace(pageOffer, "t=0 0\r\n", lines("t=0 0", "a=candidate:x", "a=candidate"), 1) + strings.Repeat("a=candidate:x\n", 400)
	got, err := description(&lk.SessionDescription{Type: "offer", Sdp: given}, "offer")
	if err != nil || got.GetSdp() != pageOffer {
		t.Errorf("%v: %s", err, got.GetSdp())
	}
}

// FuzzDescription: LiveKit finds no candidate in what is passed on, if it can parse that at all.
func FuzzDescription(f *testing.F) {
	f.Add(pageOffer)
	f.Add(received(2))
	f.Add(pageOffer + "a=candidate\r\rxx\r\n")
	f.Add("v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=candidate:x\r\n")
	f.Fuzz(func(t *testing.T, given string) {
		built, err := description(&lk.SessionDescription{Type: "offer", Sdp: given}, "offer")
		parsed := &sdp.SessionDescription{}
		if err != nil || parsed.UnmarshalString(built.GetSdp()) != nil {
			return
		}
		attributes := parsed.Attributes
		for _, section := range parsed.MediaDescriptions {
			attributes = append(attributes, section.Attributes...)
		}
		if slices.ContainsFunc(attributes, sdp.Attribute.IsICECandidate) {
			t.Errorf("a candidate is passed on: %q", built.GetSdp())
		}
	})
}
