// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"errors"
	"os"
	"regexp"
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

// ofBrowser is a session description that a browser has sent for the page, by the names in testdata/browsers. The end-to-end tests look
// whether today's browsers write more.
func ofBrowser(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/browsers/" + name + ".sdp")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\n", "\r\n")
}

var browsers = []string{"chromium", "firefox"}

// sections are the head of a description, and its media sections.
func sections(description string) (head string, all []string) {
	head, rest, _ := strings.Cut(description, "\r\nm=")
	for section := range strings.SplitSeq(strings.TrimSuffix(rest, "\r\n"), "\r\nm=") {
		all = append(all, "m="+section+"\r\n")
	}
	return head + "\r\n", all
}

func first(sections []string, kind string) string {
	return sections[slices.IndexFunc(sections, func(section string) bool { return strings.HasPrefix(section, kind) })]
}

// answerOf is the answer of a browser that receives so many sounds and pictures.
func answerOf(t testing.TB, browser string, sounds, pictures int) string {
	t.Helper()
	head, all := sections(ofBrowser(t, browser+"-answer"))
	return head + all[0] + strings.Repeat(first(all, "m=audio"), sounds) + strings.Repeat(first(all, "m=video"), pictures)
}

// offerAfter is the offer of a browser whose participant has shared a screen with sound so many times.
func offerAfter(t testing.TB, browser string, shares int) string {
	t.Helper()
	given := ofBrowser(t, browser+"-offer")
	_, all := sections(given)
	left := strings.NewReplacer("a=sendonly", "a=inactive", "a=sendrecv", "a=inactive").Replace(strings.Join(all[1:3], ""))
	return given + strings.Repeat(left, shares)
}

func TestDescriptionsOfBrowsersPass(t *testing.T) {
	candidates := regexp.MustCompile(`a=candidate:.*\r\n`)
	names := regexp.MustCompile(`a=msid:.*\r\n`)
	for _, browser := range browsers {
		offer, answer := ofBrowser(t, browser+"-offer"), ofBrowser(t, browser+"-answer")
		shared := offerAfter(t, browser, 1)
		for name, tc := range map[string]struct{ typ, given, want string }{
			"an offer":  {"offer", offer, candidates.ReplaceAllString(offer, "")},
			"an answer": {"answer", answer, candidates.ReplaceAllString(answer, "")},
			"an offer after a share": {
				"offer", shared, candidates.ReplaceAllString(offer+names.ReplaceAllString(strings.TrimPrefix(shared, offer), ""), ""),
			},
		} {
			got, err := description(&lk.SessionDescription{Type: tc.typ, Sdp: tc.given, Id: 7, MidToTrackId: map[string]string{"0": "x"}}, tc.typ)
			if err != nil {
				t.Errorf("%s of %s: %v", name, browser, err)
				continue
			}
			// Of the parts of a section only the attributes keep their order.
			if diff := cmp.Diff(sorted(tc.want), sorted(got.GetSdp())); diff != "" || got.GetType() != tc.typ || got.GetId() != 7 || got.GetMidToTrackId() != nil {
				t.Errorf("%s of %s: (-want +got)\n%s", name, browser, diff)
			}
		}
	}
}

func sorted(description string) []string {
	return slices.Sorted(strings.SplitSeq(description, "\r\n"))
}

// TestTheLargestMeetingPasses: what docs/performance.md promises of a room, in each browser, and 40 shares of a screen by one page.
func TestTheLargestMeetingPasses(t *testing.T) {
	for _, browser := range browsers {
		for name, message := range map[string]*lk.SignalRequest{
			"300 sounds":                   answer(answerOf(t, browser, 300, 0)),
			"100 cameras":                  answer(answerOf(t, browser, 100, 100)),
			"1,000 sounds and 100 cameras": answer(answerOf(t, browser, 1000, 100)),
			"40 shares":                    offer(offerAfter(t, browser, 40)),
			// LiveKit's offer is about as long as the answer. The page leaves both out, other clients do not.
			"100 cameras, after a break": comeBack(func(s *lk.SyncState) {
				s.Offer, s.Answer = offer(answerOf(t, browser, 100, 100)).GetOffer(), answer(answerOf(t, browser, 100, 100)).GetAnswer()
			}),
		} {
			data := encoded(t, message)
			t.Logf("%s in %s: %d bytes", name, browser, len(data))
			if _, err := request(t.Context(), data, alone()); err != nil {
				t.Errorf("%s in %s: %d bytes, %v", name, browser, len(data), err)
			}
		}
	}
}

func TestDescriptionsThatAreRefused(t *testing.T) {
	sent := lines("m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=msid:- y", "a=rtpmap:96 VP8/90000")
	for name, given := range map[string]string{
		"nothing that can be parsed": "x\r\n",
		"a long one":                 pageOffer + "a=" + strings.Repeat("x", maxOffer) + "\r\n",
		"many sections":              pageOffer + strings.Repeat("m=audio 9 x 0\r\n", maxOfferSections),
		"many tracks that are sent":  pageOffer + strings.Repeat(sent, maxSent),
		"many tracks both ways":      pageOffer + strings.Repeat(sent+"a=sendrecv\r\n", maxSent),
		"many attributes":            pageOffer + sent + strings.Repeat("a=x\r\n", maxSectionAttributes),
		"many candidates":            pageOffer + sent + strings.Repeat("a=candidate:x\r\n", maxSectionAttributes),
		"many lines":                 pageOffer + strings.Repeat("a=x\n", maxLines),
		"a candidate in disguise":    pageOffer + "a=candidate\r\rxx\r\n",
		"many formats":               pageOffer + "m=audio 9 x" + strings.Repeat(" 1", maxFormats+1) + "\r\n",
	} {
		got, err := description(&lk.SessionDescription{Type: "offer", Sdp: given}, "offer")
		if refused := (*InvalidError)(nil); !errors.As(err, &refused) {
			t.Errorf("%s: %d bytes are passed on, %v", name, len(got.GetSdp()), err)
		}
	}
	for name, given := range map[string]string{
		"a long answer":          pageOffer + "a=" + strings.Repeat("x", maxDescription) + "\r\n",
		"an answer of very many": pageOffer + strings.Repeat("m=audio 9 x 0\r\n", maxSections),
	} {
		if _, err := description(&lk.SessionDescription{Type: "answer", Sdp: given}, "answer"); !errors.As(err, new(*InvalidError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := description(&lk.SessionDescription{Type: "answer", Sdp: pageOffer}, "offer"); err == nil {
		t.Error("an answer is taken for an offer")
	}
}

// TestCandidatesInDescriptionsDoNotPass: whatever they look like.
func TestCandidatesInDescriptionsDoNotPass(t *testing.T) {
	given := strings.Replace(pageOffer, "t=0 0\r\n", lines("t=0 0", "a=candidate:x", "a=candidate"), 1) + strings.Repeat("a=candidate:x\n", 200)
	got, err := description(&lk.SessionDescription{Type: "offer", Sdp: given}, "offer")
	if err != nil || got.GetSdp() != pageOffer {
		t.Errorf("%v: %s", err, got.GetSdp())
	}
}

// TestNamesOfTracksThatAreNotSent: LiveKit may write the whole description for each name, and a section is not sent where anything says so.
func TestNamesOfTracksThatAreNotSent(t *testing.T) {
	section := lines("m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=msid:- y", "a=rtpmap:96 VP8/90000")
	for _, direction := range []string{"a=inactive\r\n", "a=recvonly\r\n", "a=sendonly\r\na=inactive\r\n"} {
		got, err := description(&lk.SessionDescription{Type: "offer", Sdp: pageOffer + strings.Repeat(section+direction, 10*maxSent)}, "offer")
		if n := strings.Count(got.GetSdp(), "a=msid:"); err != nil || n != 1 {
			t.Errorf("%q: %d tracks are named, %v", direction, n, err)
		}
	}
}

// FuzzDescription: LiveKit finds no candidate in what is passed on, if it can parse that at all.
func FuzzDescription(f *testing.F) {
	f.Add(pageOffer)
	for _, browser := range browsers {
		f.Add(ofBrowser(f, browser+"-offer"))
		f.Add(ofBrowser(f, browser+"-answer"))
	}
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
