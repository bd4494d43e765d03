// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	lk "github.com/livekit/protocol/livekit"
	"github.com/pion/sdp/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/testkit"
)

// alone is the account of a participant to whom LiveKit has sent the longest session description, and whose meeting and site have no other.
func alone() account { return charged(newSpending(), limit.New[sharer](2)) }

func charged(s *spending, shared *limit.Buckets[sharer]) account {
	s.heard.Store(maxDescription)
	return account{spending: s, shared: shared, sharer: sharer{"meeting", netip.MustParsePrefix("192.0.2.0/24")}}
}

func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func subscribe(tracks ...string) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Subscription{Subscription: &lk.UpdateSubscription{TrackSids: tracks, Subscribe: true}}}
}

func settings(tracks ...string) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_TrackSetting{TrackSetting: &lk.UpdateTrackSettings{TrackSids: tracks, Quality: lk.VideoQuality_HIGH, Fps: 30}}}
}

func addTrack(change func(*lk.AddTrackRequest)) *lk.SignalRequest {
	t := &lk.AddTrackRequest{
		Cid: "3f1c", Name: "camera", Type: lk.TrackType_VIDEO, Width: 1280, Height: 720, Source: lk.TrackSource_CAMERA, Stream: "camera",
		Layers:          []*lk.VideoLayer{{Quality: lk.VideoQuality_LOW, Width: 320, Height: 180, Bitrate: 160_000, Rid: "q"}},
		SimulcastCodecs: []*lk.SimulcastCodec{{Codec: "vp8", Cid: "3f1c", Layers: []*lk.VideoLayer{{Quality: lk.VideoQuality_HIGH}}}},
		AudioFeatures:   []lk.AudioTrackFeature{lk.AudioTrackFeature_TF_AUTO_GAIN_CONTROL},
	}
	change(t)
	return &lk.SignalRequest{Message: &lk.SignalRequest_AddTrack{AddTrack: t}}
}

func camera() *lk.SignalRequest { return addTrack(func(*lk.AddTrackRequest) {}) }

func permit(all bool, some ...*lk.TrackPermission) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_SubscriptionPermission{SubscriptionPermission: &lk.SubscriptionPermission{
		AllParticipants: all, TrackPermissions: some,
	}}}
}

func trickle(candidate string) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Trickle{Trickle: &lk.TrickleRequest{CandidateInit: candidate, Target: lk.SignalTarget_SUBSCRIBER}}}
}

func simulate(s *lk.SimulateScenario) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Simulate{Simulate: s}}
}

func simulateProtocol(p lk.CandidateProtocol) *lk.SignalRequest {
	return simulate(&lk.SimulateScenario{Scenario: &lk.SimulateScenario_SwitchCandidateProtocol{SwitchCandidateProtocol: p}})
}

func comeBack(change func(*lk.SyncState)) *lk.SignalRequest {
	s := &lk.SyncState{
		Subscription: &lk.UpdateSubscription{TrackSids: numbered(600)}, TrackSidsDisabled: numbered(600),
		PublishTracks: []*lk.TrackPublishedResponse{{Cid: "3f1c", Track: &lk.TrackInfo{Sid: "TR_VCx"}}, {Cid: "not yet published"}},
	}
	change(s)
	return &lk.SignalRequest{Message: &lk.SignalRequest_SyncState{SyncState: s}}
}

func offer(sdp string) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Offer{Offer: &lk.SessionDescription{Type: "offer", Sdp: sdp, Id: 7}}}
}

func answer(sdp string) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Answer{Answer: &lk.SessionDescription{Type: "answer", Sdp: sdp, Id: 7}}}
}

func ping(n int64) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Ping{Ping: n}}
}

func mute() *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Mute{Mute: &lk.MuteTrackRequest{Sid: "TR_AMx", Muted: true}}}
}

// numbered are so many tracks.
func numbered(n int) (tracks []string) {
	for i := range n {
		tracks = append(tracks, fmt.Sprintf("TR_AM%010d", i))
	}
	return tracks
}

const hostCandidate = `{"candidate":"candidate:1 1 udp 1 192.0.2.1 1 typ host","sdpMid":"0","sdpMLineIndex":0,"usernameFragment":null}`

// ofThePage are messages of livekit-client, of each type that the page sends.
func ofThePage() map[string]*lk.SignalRequest {
	return map[string]*lk.SignalRequest{
		"offer":                   offer(pageOffer),
		"answer":                  answer(pageOffer),
		"trickle":                 trickle(hostCandidate),
		"add_track":               camera(),
		"mute":                    mute(),
		"subscription":            subscribe(numbered(maxTracks)...),
		"track_setting":           settings("TR_VCabc"),
		"leave":                   {Message: &lk.SignalRequest_Leave{Leave: &lk.LeaveRequest{Reason: lk.DisconnectReason_CLIENT_INITIATED}}},
		"ping":                    ping(1),
		"ping_req":                {Message: &lk.SignalRequest_PingReq{PingReq: &lk.Ping{Timestamp: 1, Rtt: 2}}},
		"sync_state":              comeBack(func(*lk.SyncState) {}),
		"simulate":                simulateProtocol(lk.CandidateProtocol_TCP),
		"subscription_permission": permit(true),
		"update_audio_track": {Message: &lk.SignalRequest_UpdateAudioTrack{UpdateAudioTrack: &lk.UpdateLocalAudioTrack{
			TrackSid: "TR_AMx", Features: []lk.AudioTrackFeature{lk.AudioTrackFeature_TF_NOISE_SUPPRESSION},
		}}},
	}
}

// sent is what the media server gets of a message.
func sent(t testing.TB, message *lk.SignalRequest) (*lk.SignalRequest, error) {
	t.Helper()
	data, err := request(t.Context(), encoded(t, message), alone())
	if err != nil {
		return nil, err
	}
	got := &lk.SignalRequest{}
	return got, proto.Unmarshal(data, got)
}

func TestWhatThePageSendsPasses(t *testing.T) {
	for name := range types {
		if ofThePage()[string(name)] == nil {
			t.Errorf("no message of type %s is tried", name)
		}
	}
	for name, message := range ofThePage() {
		got, err := sent(t, message)
		if diff := gocmp.Diff(message, got, protocmp.Transform()); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// TestOnlyWhatIsNeededPasses: of a message that passes, what LiveKit does not need of a page is left out.
func TestOnlyWhatIsNeededPasses(t *testing.T) {
	unknown := protowire.AppendString(protowire.AppendTag(nil, 999, protowire.BytesType), "x")
	setting := settings("TR_x")
	setting.GetTrackSetting().ProtoReflect().SetUnknown(unknown)
	subscription := subscribe("TR_x")
	subscription.GetSubscription().ParticipantTracks = []*lk.ParticipantTracks{{ParticipantSid: "PA_x", TrackSids: numbered(1000)}}
	leave := func(regions *lk.RegionSettings) *lk.SignalRequest {
		return &lk.SignalRequest{Message: &lk.SignalRequest_Leave{Leave: &lk.LeaveRequest{Reason: lk.DisconnectReason_CLIENT_INITIATED, Regions: regions}}}
	}
	for name, tc := range map[string]struct{ given, want *lk.SignalRequest }{
		"a field that is not known": {setting, settings("TR_x")},
		"tracks by participant":     {subscription, subscribe("TR_x")},
		"regions":                   {leave(&lk.RegionSettings{Regions: []*lk.RegionInfo{{Url: "http://192.0.2.1"}}}), leave(nil)},
		"a candidate with more":     {trickle(`{"candidate":"","more":"x"}`), trickle(`{"candidate":"","sdpMid":null,"sdpMLineIndex":null,"usernameFragment":null}`)},
		"a state with descriptions": {comeBack(func(s *lk.SyncState) {
			s.Offer, s.Answer = &lk.SessionDescription{Type: "offer", Sdp: "x"}, &lk.SessionDescription{Type: "answer", Sdp: "x"}
			s.DataChannels = []*lk.DataChannelInfo{{Label: "x"}}
			s.PublishDataTracks = []*lk.PublishDataTrackResponse{{Info: &lk.DataTrackInfo{Sid: "DTR_x"}}}
			s.PublishTracks[0].Track.Name = "x"
		}), comeBack(func(*lk.SyncState) {})},
	} {
		got, err := sent(t, tc.given)
		if diff := gocmp.Diff(tc.want, got, protocmp.Transform()); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// TestTypesThatDoNotPass: every type of LiveKit's that the page does not send is refused, those of later versions too.
func TestTypesThatDoNotPass(t *testing.T) {
	refused := func(name string, data []byte) {
		if _, err := request(t.Context(), data, alone()); !errors.As(err, new(*InvalidError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	number := protowire.Number(0)
	for i := range requestFields.Len() {
		field := requestFields.Get(i)
		number = max(number, field.Number())
		if _, ok := types[field.Name()]; !ok {
			refused(string(field.Name()), protowire.AppendBytes(protowire.AppendTag(nil, field.Number(), protowire.BytesType), nil))
		}
	}
	refused("a later type", protowire.AppendBytes(protowire.AppendTag(nil, number+1, protowire.BytesType), nil))
}

// TestEveryTypeIsDocumented: operators read in docs/security.md what reaches LiveKit.
func TestEveryTypeIsDocumented(t *testing.T) {
	document := testkit.Documents(t)["docs/security.md"]
	for i := range requestFields.Len() {
		if name := string(requestFields.Get(i).Name()); !strings.Contains(document, "`"+name+"`") {
			t.Errorf("docs/security.md does not name messages of type %s", name)
		}
	}
}

func TestMessagesThatDoNotPass(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	for name, data := range map[string][]byte{
		"nothing":                       {},
		"nothing that can be read":      {0x0a, 0xff},
		"a type in another form":        protowire.AppendVarint(protowire.AppendTag(nil, requestFields.ByName("mute").Number(), protowire.VarintType), 1),
		"two messages in one":           append(encoded(t, settings("TR_x")), encoded(t, settings("TR_y"))...),
		"a speaker":                     encoded(t, simulate(&lk.SimulateScenario{Scenario: &lk.SimulateScenario_SpeakerUpdate{SpeakerUpdate: 1 << 30}})),
		"TLS":                           encoded(t, simulateProtocol(lk.CandidateProtocol_TLS)),
		"no scenario":                   encoded(t, simulate(&lk.SimulateScenario{})),
		"too many tracks":               encoded(t, subscribe(numbered(maxTracks+1)...)),
		"too many settings":             encoded(t, settings(numbered(maxTracks+1)...)),
		"a long name of a track":        encoded(t, subscribe(long)),
		"a mute of a long name":         encoded(t, &lk.SignalRequest{Message: &lk.SignalRequest_Mute{Mute: &lk.MuteTrackRequest{Sid: long}}}),
		"very many tracks":              encoded(t, subscribe(numbered(maxNames/10)...)),
		"a long message of a type":      encoded(t, addTrack(func(t *lk.AddTrackRequest) { t.Name = strings.Repeat("x", maxSmall) })),
		"a long identifier":             encoded(t, addTrack(func(t *lk.AddTrackRequest) { t.Cid = long })),
		"a long codec":                  encoded(t, addTrack(func(t *lk.AddTrackRequest) { t.SimulcastCodecs[0].Codec = long })),
		"many layers":                   encoded(t, addTrack(func(t *lk.AddTrackRequest) { t.Layers = make([]*lk.VideoLayer, maxLayers+1) })),
		"many layers of a codec":        encoded(t, addTrack(func(t *lk.AddTrackRequest) { t.SimulcastCodecs[0].Layers = make([]*lk.VideoLayer, maxLayers+1) })),
		"many codecs":                   encoded(t, addTrack(func(t *lk.AddTrackRequest) { t.SimulcastCodecs = make([]*lk.SimulcastCodec, maxCodecs+1) })),
		"a long track":                  encoded(t, addTrack(func(t *lk.AddTrackRequest) { t.Name, t.Stream = long[1:], long[1:] })),
		"an answer as an offer":         encoded(t, &lk.SignalRequest{Message: &lk.SignalRequest_Offer{Offer: &lk.SessionDescription{Type: "answer", Sdp: pageOffer}}}),
		"an offer that cannot be read":  encoded(t, offer("v=x\r\n")),
		"an answer that cannot be read": encoded(t, &lk.SignalRequest{Message: &lk.SignalRequest_Answer{Answer: &lk.SessionDescription{Type: "answer", Sdp: "v=x\r\n"}}}),
		"a long candidate":              encoded(t, trickle(`{"candidate":"`+strings.Repeat("x", maxCandidate)+`"}`)),
		"no candidate":                  encoded(t, trickle("x")),
		"a state of very many":          encoded(t, comeBack(func(s *lk.SyncState) { s.TrackSidsDisabled = numbered(maxStateTracks + 1) })),
		"a state of very many own":      encoded(t, comeBack(func(s *lk.SyncState) { s.PublishTracks = make([]*lk.TrackPublishedResponse, 2*maxList+1) })),
		"a state of a long name":        encoded(t, comeBack(func(s *lk.SyncState) { s.Subscription.TrackSids = []string{long} })),
		"tracks for nobody":             encoded(t, permit(false)),
		"tracks for some":               encoded(t, permit(true, &lk.TrackPermission{ParticipantIdentity: "ada"})),
	} {
		if got, err := request(t.Context(), data, alone()); !errors.As(err, new(*InvalidError)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestWhatOneParticipantSpends: what LiveKit keeps, or writes into its log, waits where one participant asks for much of it, over all the
// participant's connections.
func TestWhatOneParticipantSpends(t *testing.T) {
	for name, tc := range map[string]struct {
		message func(n int) *lk.SignalRequest
		from    budget
	}{
		"tracks of others":   {func(n int) *lk.SignalRequest { return subscribe("TR_" + strconv.Itoa(n)) }, ofOthers},
		"settings of tracks": {func(n int) *lk.SignalRequest { return settings("TR_" + strconv.Itoa(n)) }, ofOthers},
		"states of tracks": {func(n int) *lk.SignalRequest {
			return comeBack(func(s *lk.SyncState) { s.TrackSidsDisabled = []string{"TR_" + strconv.Itoa(n)} })
		}, ofStates},
		"own tracks": {func(n int) *lk.SignalRequest {
			return addTrack(func(t *lk.AddTrackRequest) { t.Cid = strconv.Itoa(n) })
		}, ofTracks},
		"candidates":  {func(int) *lk.SignalRequest { return trickle(hostCandidate) }, ofCandidates},
		"offers":      {func(int) *lk.SignalRequest { return offer(pageOffer) }, ofDescriptions},
		"mutes":       {func(int) *lk.SignalRequest { return mute() }, ofChanges},
		"permissions": {func(int) *lk.SignalRequest { return permit(true) }, ofChanges},
		"simulations": {func(int) *lk.SignalRequest { return simulateProtocol(lk.CandidateProtocol_TCP) }, ofSimulations},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := ledger{all: map[string]*spending{}}
			shared := limit.New[sharer](2)
			send := func(n int) {
				spent, closed := l.open("eve", true)
				defer closed()
				if _, err := request(t.Context(), encoded(t, tc.message(n)), charged(spent, shared)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			begun, r := time.Now(), rates[tc.from]
			for n := range r.holds {
				send(n)
			}
			if took := time.Since(begun); took > 0 {
				t.Errorf("%s: %d take %v", name, r.holds, took)
			}
			for n := range 10 {
				send(r.holds + n)
			}
			want := time.Duration(float64(10*time.Second) / float64(r.fills))
			if took := time.Since(begun); took < want*9/10 || took > want*11/10 {
				t.Errorf("%s: 10 more take %v, want %v", name, took, want)
			}
		})
	}
}

// TestWhatAMeetingNames: one link makes any number of participants. What all of them name is bounded, by site as well, and those who name what
// a usual meeting has never wait.
func TestWhatAMeetingNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := limit.New[sharer](maxSharers)
		// name has one more participant name tracks, and returns how many were named.
		name := func(meeting, site string, tracks int) (named int, err error) {
			spent := account{newSpending(), shared, sharer{meeting, netip.MustParsePrefix(site)}}
			for some := range slices.Chunk(numbered(tracks), maxTracks) {
				if _, err := request(t.Context(), encoded(t, settings(some...)), spent); err != nil {
					return named, err
				}
				named += len(some)
			}
			return named, nil
		}
		const guests = 150
		var floods sync.WaitGroup
		begun := time.Now()
		var ofAll atomic.Int64
		for _, site := range []string{"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"} {
			var ofSite atomic.Int64
			for range guests {
				floods.Go(func() {
					n, err := name("lesson", site, 2000)
					if err != nil && !errors.Is(err, errManyNames) {
						t.Error(err)
					}
					ofSite.Add(int64(n))
					ofAll.Add(int64(n))
					if most := most(siteNames, begun, guests); ofSite.Load() > most {
						t.Errorf("from %s %d tracks are named after %v, at most %d are promised", site, ofSite.Load(), time.Since(begun), most)
					}
				})
			}
		}
		floods.Wait()
		if most := most(meetingNames, begun, 3*guests); ofAll.Load() > most {
			t.Errorf("%d tracks are named after %v, at most %d are promised", ofAll.Load(), time.Since(begun), most)
		}
		for who, of := range map[string][2]string{"another meeting": {"talk", "192.0.2.0/24"}, "a usual number": {"lesson", "192.0.2.0/24"}} {
			tracks := ownNames
			if of[0] == "talk" {
				tracks = 100
			}
			begun := time.Now()
			if _, err := name(of[0], of[1], tracks); err != nil || time.Since(begun) > 0 {
				t.Errorf("%s waits for %v: %v", who, time.Since(begun), err)
			}
		}
	})
}

// most is how many tracks participants may have named: those of a full bucket, what came since, and the first ones of each.
func most(r limit.Rate, since time.Time, participants int) int64 {
	return int64(r.Burst+maxTracks) + int64(float64(r.PerSecond)*time.Since(since).Seconds()) + int64(participants*ownNames)
}

// TestTracksThatAreNotPaidFor: a participant who does not wait, but connects again, names no more tracks.
func TestTracksThatAreNotPaidFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spent := alone()
		if err := spent.take(t.Context(), ofOthers, rates[ofOthers].holds); err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := request(gone, encoded(t, settings(numbered(100)...)), spent); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := request(t.Context(), encoded(t, settings(numbered(100)...)), spent); err != nil || time.Since(begun) < 19*time.Second {
			t.Errorf("100 tracks are named after %v, %v", time.Since(begun), err)
		}
	})
}

// TestTheSameTracksCostNothing: in a large meeting the same tracks are shown and hidden for hours.
func TestTheSameTracksCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spent, begun := alone(), time.Now()
		for range 1000 {
			if _, err := request(t.Context(), encoded(t, settings(numbered(100)...)), spent); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("the same tracks wait for %v", took)
		}
	})
}

// TestTheSameTrackAgainAndAgain: LiveKit's log has all requests for the same track with each of them.
func TestTheSameTrackAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spent := alone()
		for n := range 2 * maxSameTrack {
			_, err := request(t.Context(), encoded(t, camera()), spent)
			if refused := errors.As(err, new(*InvalidError)); refused != (n >= maxSameTrack) {
				t.Fatalf("after %d: %v", n, err)
			}
		}
		l := ledger{all: map[string]*spending{"ann": spent.spending}}
		spent.forget = time.NewTimer(departure)
		for _, resumes := range []bool{true, false} {
			l.open("ann", resumes)
			if _, err := request(t.Context(), encoded(t, camera()), spent); (err == nil) == resumes {
				t.Errorf("after a connection that resumes, %v: %v", resumes, err)
			}
		}
	})
}

func TestWhoHasLeftIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := ledger{all: map[string]*spending{}}
		remembered := func() int {
			l.mu.Lock()
			defer l.mu.Unlock()
			return len(l.all)
		}
		first, closeFirst := l.open("ann", true)
		again, closeAgain := l.open("ann", true)
		if other, closed := l.open("bob", true); again != first || other == first {
			t.Error("two participants have one budget, or one participant has two")
		} else {
			closed()
		}
		closeFirst()
		<-time.After(2 * departure)
		if n := remembered(); n != 1 {
			t.Errorf("%d participants are remembered, want the one with a connection", n)
		}
		closeAgain()
		<-time.After(departure - time.Second)
		back, closed := l.open("ann", true)
		<-time.After(2 * time.Second)
		if closed(); back != first || remembered() != 1 {
			t.Error("a participant who is back has spent nothing")
		}
		<-time.After(departure + time.Second)
		if n := remembered(); n != 0 {
			t.Errorf("%d participants are remembered", n)
		}
	})
}

// TestMessagesAreNotDecodedForNothing: what is too long for its type, or too much, is refused before it is decoded.
func TestMessagesAreNotDecodedForNothing(t *testing.T) {
	layers := bytes.Repeat([]byte{0x4a, 0x00}, 100_000)
	data := protowire.AppendBytes(protowire.AppendTag(nil, requestFields.ByName("add_track").Number(), protowire.BytesType), layers)
	spent := alone()
	allocated := testing.AllocsPerRun(10, func() { _, _ = request(t.Context(), data, spent) })
	if allocated > 100 {
		t.Errorf("%v allocations", allocated)
	}
}

// TestWhatAMessageTakes: whatever is in a message, its decoding takes no more memory than is promised.
func TestWhatAMessageTakes(t *testing.T) {
	section := "m=video 9 UDP/TLS/RTP/SAVPF" + strings.Repeat(" 1", maxFormats) + "\r\n"
	fill := func(head, line string, lines int) string {
		return head + strings.Repeat(line, min(lines, (maxDescription-len(head))/len(line)))
	}
	state := func(field protoreflect.Name, bytes int) []byte {
		one := protowire.AppendBytes(protowire.AppendTag(nil, numbersOf(&lk.SyncState{}, field)[0], protowire.BytesType), nil)
		return protowire.AppendBytes(protowire.AppendTag(nil, requestFields.ByName("sync_state").Number(), protowire.BytesType), []byte(strings.Repeat(string(one), bytes/len(one))))
	}
	for name, data := range map[string][]byte{
		"1,000 sounds and 100 pictures": encoded(t, answer(answerOf(t, "chromium", 1000, 100))),
		"40 shares":                     encoded(t, offer(offerAfter(t, "chromium", 40))),
		"the shortest lines":            encoded(t, answer(fill(pageOffer, "a=x\n", maxLines-len(strings.Split(pageOffer, "\n"))))),
		"the shortest sections":         encoded(t, answer(fill(pageOffer, "m=a 9 x 0\n", maxSections-3))),
		"sections full of formats":      encoded(t, answer(fill(pageOffer, section, maxSections-3))),
		"too many lines":                encoded(t, answer(fill(pageOffer, "a=x\n", maxDescription))),
		"too many sections":             encoded(t, answer(fill(pageOffer, "m=a 9 x 0\n", maxDescription))),
		"one long line":                 encoded(t, answer(pageOffer+"a="+strings.Repeat("x", maxDescription-len(pageOffer)-4)+"\r\n")),
		"a state of tracks":             encoded(t, comeBack(func(s *lk.SyncState) { s.TrackSidsDisabled = numbered(maxStateTracks) })),
		"a state of nothing":            state("publish_tracks", maxDescription),
		"a state of other things":       state("data_channels", maxDescription),
	} {
		spent := alone()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := request(t.Context(), data, spent)
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes take %d: %v", name, len(data), took, err)
		if took > maxDecoded {
			t.Errorf("%s: %d bytes take %d, at most %d are promised", name, len(data), took, maxDecoded)
		}
	}
}

// FuzzSignalRequest: whatever a browser sends, what goes on would be passed on as it is.
func FuzzSignalRequest(f *testing.F) {
	for _, message := range ofThePage() {
		if data := encoded(f, message); len(data) < 2000 { // Long ones take the fuzzer seconds each.
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		built, err := request(t.Context(), data, alone())
		if errors.As(err, new(*InvalidError)) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		first, second := &lk.SignalRequest{}, &lk.SignalRequest{}
		if err := proto.Unmarshal(built, first); err != nil {
			t.Fatal(err)
		}
		if sent := cmp.Or(first.GetOffer(), first.GetAnswer()); sent != nil && (&sdp.SessionDescription{}).UnmarshalString(sent.GetSdp()) != nil {
			return // LiveKit cannot parse it either.
		}
		again, err := request(t.Context(), built, alone())
		if err := errors.Join(err, proto.Unmarshal(again, second)); err != nil {
			t.Fatalf("what was built is refused: %v", err)
		}
		if diff := gocmp.Diff(first, second, protocmp.Transform()); diff != "" {
			t.Errorf("built twice, it is another (-first +second)\n%s", diff)
		}
	})
}
