// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func wrapped(t testing.TB, compression lk.WrappedJoinRequest_Compression, data []byte) string {
	return base64.URLEncoding.EncodeToString(encoded(t, &lk.WrappedJoinRequest{Compression: compression, JoinRequest: data}))
}

// repeated is a join request with one more field of a kind, again and again.
func repeated(t testing.TB, field []byte, times int) string {
	data := append(encoded(t, pageJoin()), bytes.Repeat(field, times)...)
	packed, err := packBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// pageJoin is a join request of the page.
func pageJoin() *lk.JoinRequest {
	return &lk.JoinRequest{
		ClientInfo: &lk.ClientInfo{
			Sdk: lk.ClientInfo_JS, Version: "2.23.0", Protocol: 17, Os: "Linux", Browser: "Chrome", BrowserVersion: "140", ClientProtocol: 1,
			Capabilities: []lk.ClientInfo_Capability{lk.ClientInfo_CAP_PACKET_TRAILER},
		},
		ConnectionSettings: &lk.ConnectionSettings{AutoSubscribe: true, AdaptiveStream: true, SubscriberAllowPause: new(true)},
		PublisherOffer:     &lk.SessionDescription{Type: "offer", Sdp: pageOffer, Id: 1},
	}
}

// passedOn is the join request that the media server gets.
func passedOn(t testing.TB, given string) (*lk.JoinRequest, error) {
	t.Helper()
	query, _, err := Query(url.Values{"join_request": {given}})
	if err != nil {
		return nil, err
	}
	data, err := unpack(query.Get("join_request"))
	got := &lk.JoinRequest{}
	if err := errors.Join(err, proto.Unmarshal(data, got)); err != nil {
		t.Fatal(err)
	}
	return got, nil
}

func TestJoinRequestsOfThePagePass(t *testing.T) {
	resumes := &lk.JoinRequest{Reconnect: true, ReconnectReason: lk.ReconnectReason_RR_SIGNAL_DISCONNECTED, ParticipantSid: "PA_x"}
	for _, want := range []*lk.JoinRequest{pageJoin(), resumes, {}} {
		packed, err := pack(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, given := range []string{packed, wrapped(t, lk.WrappedJoinRequest_NONE, encoded(t, want))} {
			got, err := passedOn(t, given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
	}
}

// TestJoinRequestsAreCutDown: what the page does not send does not reach the media server, however much there is of it.
func TestJoinRequestsAreCutDown(t *testing.T) {
	more := pageJoin()
	more.Metadata, more.ParticipantAttributes = "x", map[string]string{"presenter": "true"}
	more.SyncState = &lk.SyncState{TrackSidsDisabled: []string{"TR_x"}}
	more.AddTrackRequests = []*lk.AddTrackRequest{{Cid: "x"}}
	packed, err := pack(more)
	if err != nil {
		t.Fatal(err)
	}
	for name, given := range map[string]string{
		"all fields":            packed,
		"a track 10,000 times":  repeated(t, []byte{0x2a, 0x03, 0x0a, 0x01, 'x'}, 10_000),
		"an unknown field":      repeated(t, []byte{0xa2, 0x06, 0x01, 'x'}, 10_000),
		"an attribute for ever": repeated(t, encoded(t, &lk.JoinRequest{ParticipantAttributes: map[string]string{"x": "y"}}), 5_000),
	} {
		got, err := passedOn(t, given)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(pageJoin(), got, protocmp.Transform()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestJoinRequestsThatAreRefused(t *testing.T) {
	with := func(change func(*lk.JoinRequest)) string {
		request := pageJoin()
		change(request)
		packed, err := pack(request)
		if err != nil {
			t.Fatal(err)
		}
		return packed
	}
	long := strings.Repeat("x", maxText+1)
	for name, given := range map[string]string{
		"no base64":              "a+b/c=",
		"no message":             base64.URLEncoding.EncodeToString([]byte{0xff}),
		"no gzip":                wrapped(t, lk.WrappedJoinRequest_GZIP, []byte("x")),
		"an unknown compression": wrapped(t, 7, nil),
		"half of a request":      wrapped(t, lk.WrappedJoinRequest_NONE, encoded(t, pageJoin())[:100]),
		"much from little":       repeated(t, []byte{0x2a, 0x03, 0x0a, 0x01, 'x'}, 170_000),
		"much without gzip":      wrapped(t, lk.WrappedJoinRequest_NONE, make([]byte, maxJoin+1)),
		"a long participant":     with(func(j *lk.JoinRequest) { j.ParticipantSid = long }),
		"a long browser":         with(func(j *lk.JoinRequest) { j.ClientInfo.Browser = long }),
		"many capabilities":      with(func(j *lk.JoinRequest) { j.ClientInfo.Capabilities = make([]lk.ClientInfo_Capability, maxList+1) }),
		"an answer":              with(func(j *lk.JoinRequest) { j.PublisherOffer.Type = "answer" }),
		"an offer that is none":  with(func(j *lk.JoinRequest) { j.PublisherOffer.Sdp = "x\r\n" }),
	} {
		got, err := passedOn(t, given)
		if refused := (*InvalidError)(nil); !errors.As(err, &refused) {
			t.Errorf("%s: %v is passed on, %v", name, got, err)
		}
	}
}

// TestUnpackingStopsAtTheBound: a request of 2 kB that unpacks to megabytes is refused on the way.
func TestUnpackingStopsAtTheBound(t *testing.T) {
	given, err := packBytes(make([]byte, 100*maxJoin))
	if err != nil {
		t.Fatal(err)
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			_, err = unpack(given)
		}
	}).AllocedBytesPerOp()
	if err == nil || allocated > 8*maxJoin {
		t.Errorf("%d bytes are allocated, %v", allocated, err)
	}
}

func TestOnlyNamedParametersPass(t *testing.T) {
	given := url.Values{
		"access_token": {strings.Repeat("t", 5000), "another"}, "auto_subscribe": {"1"}, "sdk": {"js"}, "sid": {"PA_x"}, "reconnect": {"1"},
		"publish": {"screen"}, "attributes": {"e30"}, "auto_subscribe_data_track": {"1"}, "room": {"x"}, "participantKind": {"x"},
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
	resuming := pageJoin()
	resuming.Reconnect = true
	for name, tc := range map[string]struct {
		given url.Values
		want  bool
	}{
		"a join request":                        {url.Values{"join_request": {wrapped(t, lk.WrappedJoinRequest_NONE, encoded(t, pageJoin()))}}, false},
		"a join request that resumes":           {url.Values{"join_request": {wrapped(t, lk.WrappedJoinRequest_NONE, encoded(t, resuming))}}, true},
		"parameters":                            {url.Values{"sdk": {"js"}}, false},
		"parameters that resume":                {url.Values{"reconnect": {"1"}}, true},
		"a join request beside such parameters": {url.Values{"reconnect": {"1"}, "join_request": {wrapped(t, lk.WrappedJoinRequest_NONE, encoded(t, pageJoin()))}}, false},
	} {
		if _, resumes, err := Query(tc.given); err != nil || resumes != tc.want {
			t.Errorf("%s: %v, %v", name, resumes, err)
		}
	}
}

// FuzzJoinRequest: whatever join request is given, the one that is passed on has nothing that the page does not send, and is
// passed on again as it is.
func FuzzJoinRequest(f *testing.F) {
	for _, request := range []*lk.JoinRequest{pageJoin(), {Reconnect: true}, {AddTrackRequests: []*lk.AddTrackRequest{{Cid: "x"}}}} {
		f.Add(encoded(f, request))
	}
	f.Fuzz(func(t *testing.T, given []byte) {
		first, err := decodeJoin(given)
		if err != nil {
			return
		}
		if len(first.GetAddTrackRequests())+len(first.GetMetadata())+len(first.GetParticipantAttributes()) > 0 || first.GetSyncState() != nil {
			t.Errorf("passed on: %v", first)
		}
		first.PublisherOffer = nil // FuzzDescription tries offers.
		second, err := decodeJoin(encoded(t, first))
		if err != nil {
			t.Fatalf("what was built is refused: %v", err)
		}
		if diff := cmp.Diff(first, second, protocmp.Transform()); diff != "" {
			t.Errorf("passed on twice, it is another (-first +second)\n%s", diff)
		}
	})
}
