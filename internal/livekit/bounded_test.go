// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

// an is what a media server answers.
type an struct {
	status int
	header http.Header
	body   []byte
	// endless repeats the body until the manager reads no more.
	endless bool
}

// answering is an Engine whose media server gives one answer to all calls. It counts its answers, and the bytes of them.
func answering(t *testing.T, namespace string, a an) (e engine.Engine, sent func() (answers, bytes int)) {
	t.Helper()
	var answers, bytesSent int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answers++
		w.Header().Set("Content-Type", "application/protobuf")
		for name, values := range a.header {
			w.Header()[name] = values
			bytesSent += len(name) + len(strings.Join(values, ""))
		}
		if !a.endless {
			w.Header().Set("Content-Length", strconv.Itoa(len(a.body))) // As LiveKit does.
		}
		w.WriteHeader(a.status)
		for {
			n, err := w.Write(a.body)
			bytesSent += n
			if err != nil || !a.endless {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	e, err := New(namespace, engine.Server{URL: server.URL, Key: "key", Secret: strings.Repeat("s", 32)})
	if err != nil {
		t.Fatal(err)
	}
	return e, func() (int, int) {
		server.Close() // It waits for the answer.
		return answers, bytesSent
	}
}

func elements(n int, inner []byte) []byte {
	return bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner), n)
}

func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	body, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func packed(t *testing.T, body []byte) []byte {
	t.Helper()
	var to bytes.Buffer
	w := gzip.NewWriter(&to)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

// TestWhatAnAnswerCosts: a tenant chooses what answers. Each call of the API is answered with what takes more memory decoded than sent.
func TestWhatAnAnswerCosts(t *testing.T) {
	manyTracks := encoded(t, &lk.ParticipantInfo{Identity: "i", Tracks: slices.Repeat([]*lk.TrackInfo{{}}, 5000)})
	manyMembers := map[string]string{}
	for i := range 9000 {
		manyMembers[strconv.Itoa(i)] = ""
	}
	meta, err := json.Marshal(map[string]any{"code": "internal", "msg": "m", "meta": manyMembers})
	if err != nil {
		t.Fatal(err)
	}
	someMembers := []byte(`{"code":"internal","msg":"m","meta":{"x":""`)
	for i := range 390 {
		someMembers = append(someMembers, `,"`+strconv.Itoa(i)+`":""`...)
	}
	someMembers = append(someMembers, "}}"...)
	text := func(n int) []byte { return []byte(`{"code":"internal","msg":"` + strings.Repeat("x", n) + `"}`) }
	gzipped := http.Header{"Content-Encoding": {"gzip"}}
	answers := map[string]an{
		"many empty elements":               {status: 200, body: elements(1<<20, nil)},
		"some empty elements":               {status: 200, body: elements(4<<10, nil)},
		"short elements":                    {status: 200, body: elements(1<<20, []byte{0x12, 1, 'i'})},
		"elements with many messages":       {status: 200, body: elements(1000, manyTracks)},
		"one element with very many":        {status: 200, body: elements(1, bytes.Repeat([]byte{0x22, 0}, 1<<20))},
		"one element, longer than it is":    {status: 200, body: []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x12, 1, 'i'}},
		"a participant with many tracks":    {status: 200, body: manyTracks},
		"very many tracks":                  {status: 200, body: bytes.Repeat([]byte{0x22, 0}, 1<<20)},
		"many fields that nobody knows":     {status: 200, body: bytes.Repeat([]byte{0xf8, 0x7f, 1}, 1<<20)},
		"the end does not come":             {status: 200, body: elements(1, encoded(t, withTracks(1, 100))), endless: true},
		"nothing but zeros, without an end": {status: 200, body: make([]byte, 1<<20), endless: true},
		"packed elements":                   {status: 200, header: gzipped, body: packed(t, elements(4<<20, nil))},
		"a packed error":                    {status: 500, header: gzipped, body: packed(t, text(4<<20))},
		"an error with many members":        {status: 500, body: meta},
		"an error with some members":        {status: 500, body: someMembers},
		"an error with a long text":         {status: 500, body: text(1 << 20)},
		"an error with a text":              {status: 500, body: text(3 << 10)},
		"an error with a long code":         {status: 500, body: []byte(`{"code":"` + strings.Repeat("x", 3<<10) + `","msg":""}`)},
		"an error without an end":           {status: 500, body: bytes.Repeat([]byte("x"), 1<<20), endless: true},
		"the page of a proxy":               {status: 502, body: bytes.Repeat([]byte("<p>"), 1<<20)},
		"a long way to somewhere else":      {status: 302, header: http.Header{"Location": {"/" + strings.Repeat("x", 8<<10)}}},
		"a long header":                     {status: 200, header: http.Header{"X-Long": slices.Repeat([]string{strings.Repeat("x", 4<<10)}, 100)}},
	}
	calls := map[string]func(context.Context, engine.Engine) error{
		"Rooms":        func(ctx context.Context, e engine.Engine) error { _, err := e.Rooms(ctx, ""); return err },
		"Room":         func(ctx context.Context, e engine.Engine) error { _, _, err := e.Room(ctx, "r"); return err },
		"Participants": func(ctx context.Context, e engine.Engine) error { _, err := e.Participants(ctx, "r"); return err },
		"Present":      func(ctx context.Context, e engine.Engine) error { _, err := e.Present(ctx, "r", "i"); return err },
		"Ensure": func(ctx context.Context, e engine.Engine) error {
			return e.Ensure(ctx, "r", engine.RoomOptions{}, engine.RoomState{})
		},
		"Close": func(ctx context.Context, e engine.Engine) error { return e.Drop(ctx, "r") },
		"Mute": func(ctx context.Context, e engine.Engine) error {
			return e.Act(ctx, "r", engine.Mute{Who: "i", What: engine.Microphone})
		},
	}
	for answer, a := range answers {
		for name, do := range calls {
			e, sent := answering(t, "media", a)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			err := do(t.Context(), e)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			answers, bytes := sent()
			most := uint64(2<<20 + 8*bytes + 64<<10*answers) // A call costs about 40 kB of its own, and Mute makes one for each track.
			if strings.HasPrefix(name, "Room") || name == "Participants" {
				most += 2 * maxWeight
			}
			// What is allocated in all is more than what is held at any time.
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
				t.Errorf("%s, to %s: %d bytes become %d in %v", answer, name, bytes, allocated, took)
			} else {
				t.Logf("%s, to %s: %d bytes become %d in %v, %.100v", answer, name, bytes, allocated, took, err)
			}
			for ; err != nil; err = errors.Unwrap(err) {
				if n := len(err.Error()); n > 2*maxErrorText {
					t.Errorf("%s, to %s: an error of %d bytes", answer, name, n)
				}
			}
		}
	}
}

// withTracks is a participant with so many tracks, each with a name of so many bytes.
func withTracks(tracks, nameLength int) *lk.ParticipantInfo {
	p := &lk.ParticipantInfo{Identity: "eve-1"}
	for range tracks {
		p.Tracks = append(p.Tracks, &lk.TrackInfo{Sid: "TR_x", Name: strings.Repeat("x", nameLength)})
	}
	return p
}

// honest is a participant as the page of one makes it, who sends all that there is.
func honest(t *testing.T, c *client, traits engine.Traits, name string) *lk.ParticipantInfo {
	t.Helper()
	p := &lk.ParticipantInfo{Identity: "67xvy3yygaz7iabm-kmbx42sxspnn5f5n", Name: name, Attributes: attributesOf(traits)}
	sealed, err := c.sealer.seal(noteOf(traits), "room", engine.Identity(p.Identity))
	if err != nil {
		t.Fatal(err)
	}
	p.Attributes[attributeClient], p.Attributes[attributeHand], p.Attributes[attributeHandSince] = sealed, yes, "1795698177026"
	for range 4 { // As LiveKit lists a picture in three sizes.
		p.Tracks = append(p.Tracks, &lk.TrackInfo{Sid: strings.Repeat("x", 300)})
	}
	return p
}

func clientOf(t *testing.T) *client {
	t.Helper()
	sealer, err := newSealer(strings.Repeat("s", 32))
	if err != nil {
		t.Fatal(err)
	}
	return &client{sealer: sealer}
}

func listOf(people ...*lk.ParticipantInfo) *lk.ListParticipantsResponse {
	return &lk.ListParticipantsResponse{Participants: people}
}

// TestWhoIsOversized: one participant of whom the media server keeps too much is listed, by name alone, and so are all others.
func TestWhoIsOversized(t *testing.T) {
	c := clientOf(t)
	ann := honest(t, c, engine.Traits{Chat: true, OS: "Windows", Browser: "Chrome 141"}, "Ann")
	longest := honest(t, c, engine.Traits{
		Chat: true, Notify: true, Avatar: strings.Repeat("a", 4096), OS: strings.Repeat("o", 64), Browser: strings.Repeat("b", 64),
		Username: strings.Repeat("<", 128), Since: time.Now(), Message: strings.Repeat("<", 200),
	}, strings.Repeat("𝕏", 128))
	layered := withTracks(20, 1)
	for _, track := range layered.GetTracks() {
		track.Codecs = slices.Repeat([]*lk.SimulcastCodecInfo{{}}, 30)
	}
	for name, tc := range map[string]struct {
		who  *lk.ParticipantInfo
		want bool
	}{
		"an honest participant":                 {ann, false},
		"one of whom everything is very long":   {longest, false},
		"one with many short tracks":            {withTracks(65, 1), true},
		"one with very many tracks":             {withTracks(300, 36), true},
		"one of few tracks with many codecs":    {layered, true},
		"one with a very long track":            {withTracks(1, 20<<20), true},
		"one who sends the longest many times":  {withTracks(14, 1000), true},
		"one who sends the longest a few times": {withTracks(8, 1000), false},
	} {
		e, _ := answering(t, "media", an{status: 200, body: encoded(t, listOf(tc.who, ann))})
		people, err := e.Participants(t.Context(), "room")
		if err != nil || len(people) != 2 {
			t.Errorf("%s: %d participants, %v", name, len(people), err)
			continue
		}
		slices.SortFunc(people, func(a, b engine.Participant) int { return strings.Compare(string(a.Identity), string(b.Identity)) })
		if got := people[1]; got.Oversized != tc.want || string(got.Identity) != tc.who.GetIdentity() || people[0].Oversized {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// Others than ours are left alone, whatever their size.
	agent := withTracks(300, 36)
	agent.Kind = lk.ParticipantInfo_AGENT
	e, _ := answering(t, "media", an{status: 200, body: encoded(t, listOf(agent))})
	if people, err := e.Participants(t.Context(), "room"); err != nil || len(people) > 0 {
		t.Errorf("an agent of the operator's: %v, %v", people, err)
	}
}

// TestOneAnswerHasFewMessages: an answer about one participant takes no more memory than an honest one, and says nothing about the server.
func TestOneAnswerHasFewMessages(t *testing.T) {
	c := clientOf(t)
	ann := honest(t, c, engine.Traits{Chat: true, OS: "Windows", Browser: "Chrome 141"}, "Ann")
	mute := engine.Mute{Who: engine.Identity(ann.GetIdentity()), What: engine.Microphone}
	e, _ := answering(t, "media", an{status: 200, body: encoded(t, ann)})
	if err := e.Act(t.Context(), "room", mute); err != nil {
		t.Error(err)
	}
	for name, body := range map[string][]byte{
		"8,000 tracks": bytes.Repeat([]byte{0x22, 0}, 8000), "a track with 8,000 layers": append([]byte{0x22, 0x80, 0x7d}, bytes.Repeat([]byte{0x52, 0}, 8000)...),
	} {
		e, _ := answering(t, "media", an{status: 200, body: body})
		if err := e.Act(t.Context(), "room", mute); !errors.Is(err, errManyMessages) || fault.Is(err, fault.KindUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestListsAreHeldByWhoReadThem: a list that work may keep counts until the work ends, and another namespace's has its own share.
func TestListsAreHeldByWhoReadThem(t *testing.T) {
	ann := &lk.ParticipantInfo{Identity: "ann-1", Name: strings.Repeat("n", 8000)}
	people := an{status: 200, body: encoded(t, listOf(slices.Repeat([]*lk.ParticipantInfo{ann}, 1000)...))}
	weight := 1000 * (&engine.Participant{Identity: engine.Identity(ann.GetIdentity()), Name: ann.GetName()}).Size()
	defer func(before *limit.Budget) { heldLists = before }(heldLists)
	heldLists = limit.NewBudget(100*weight, 2*weight)
	e, _ := answering(t, "one", people)
	another, _ := answering(t, "another", people)
	read := func(ctx context.Context, e engine.Engine) error {
		_, err := e.Participants(ctx, "room")
		return err
	}
	for range 3 {
		if err := read(t.Context(), e); err != nil {
			t.Errorf("where nothing is held: %v", err)
		}
	}
	first, end := limit.Holding(t.Context())
	second, endSecond := limit.Holding(t.Context())
	defer endSecond()
	if err := errors.Join(read(first, e), read(second, e)); err != nil {
		t.Error(err)
	}
	if err := read(first, e); !errors.Is(err, engine.ErrNoMemory) {
		t.Errorf("a third list: %v", err)
	}
	if err := read(first, another); err != nil {
		t.Errorf("another namespace's: %v", err)
	}
	end()
	if err := read(second, e); err != nil {
		t.Errorf("after the first work has ended: %v", err)
	}
}

// TestRoomsOfOthersAreNotKept: what somebody who has the key writes into a room is not kept, and neither is a room with a name that is none of ours.
func TestRoomsOfOthersAreNotKept(t *testing.T) {
	ours := &lk.Room{Name: "convene_7c1e2f5c-9d3d-4a44-8f0e-2f1d8c3a5b6e_0b8a8f7e-1d1b-4d0c-9a51-7f3f5c2f1a11", Metadata: `{"admission":"WithPresenter"}`}
	long := &lk.Room{Name: ours.GetName() + "2", Metadata: `{"admission":"` + strings.Repeat("a", 4000) + `"}`}
	e, _ := answering(t, "media", an{status: 200, body: encoded(t, &lk.ListRoomsResponse{Rooms: []*lk.Room{ours, long, {Name: "convene_" + strings.Repeat("x", 200)}}})})
	rooms, err := e.Rooms(t.Context(), "convene_")
	if err != nil || len(rooms) != 2 || rooms[0].State.Admission != "WithPresenter" || rooms[1].State.Admission != "" {
		t.Errorf("%+v, %v", rooms, err)
	}
}

// TestALongList: the largest room there may be is listed, and a longer list says nothing about the server.
func TestALongList(t *testing.T) {
	c := clientOf(t)
	ann := honest(t, c, engine.Traits{Chat: true, OS: "Windows", Browser: "Chrome 141"}, "Ann")
	ann.Tracks = nil
	e, _ := answering(t, "media", an{status: 200, body: encoded(t, listOf(slices.Repeat([]*lk.ParticipantInfo{ann}, 10_000)...))})
	if people, err := e.Participants(t.Context(), "room"); err != nil || len(people) != 10_000 {
		t.Errorf("%d participants, %v", len(people), err)
	}
	e, _ = answering(t, "media", an{status: 200, body: encoded(t, listOf(slices.Repeat([]*lk.ParticipantInfo{ann}, 40_000)...))})
	if people, err := e.Participants(t.Context(), "room"); !errors.Is(err, errLongList) || fault.Is(err, fault.KindUnavailable) {
		t.Errorf("%d participants, %v", len(people), err)
	}
	room := &lk.Room{Sid: "RM_2pZqsrhCsWc4", Name: "convene_7c1e2f5c-9d3d-4a44-8f0e-2f1d8c3a5b6e_0b8a8f7e-1d1b-4d0c-9a51-7f3f5c2f1a11", EmptyTimeout: 90000,
		CreationTime: 1795698177, CreationTimeMs: 1795698177026, TurnPassword: strings.Repeat("p", 64), Metadata: `{"expiresAt":"2026-11-27T12:00:00Z"}`}
	rooms := &lk.ListRoomsResponse{Rooms: slices.Repeat([]*lk.Room{room}, 20_000)}
	e, _ = answering(t, "media", an{status: 200, body: encoded(t, rooms)})
	if got, err := e.Rooms(t.Context(), "convene_"); err != nil || len(got) != 20_000 {
		t.Errorf("%d rooms, %v", len(got), err)
	}
	rooms.Rooms = slices.Repeat(rooms.GetRooms(), 5)
	e, _ = answering(t, "media", an{status: 200, body: encoded(t, rooms)})
	if got, err := e.Rooms(t.Context(), "another_"); err != nil || len(got) != 0 {
		t.Errorf("100,000 rooms of others: %d rooms, %v", len(got), err)
	}
}

// TestListsOfOneNamespaceDoNotHoldUpOthers: the lists of a media server that never ends take no more than their namespace's share.
func TestListsOfOneNamespaceDoNotHoldUpOthers(t *testing.T) {
	reading := make(chan struct{}, 1000)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(maxList))
		_, _ = w.Write(elements(1, []byte{0x12, 1, 'i'}))
		w.(http.Flusher).Flush()
		reading <- struct{}{}
		<-r.Context().Done()
	}))
	defer slow.Close()
	e, err := New("slow", engine.Server{URL: slow.URL, Key: "key", Secret: strings.Repeat("s", 32)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 20)
	const lists = 20
	for range lists {
		go func() { _, err := e.Participants(ctx, "room"); done <- err }()
	}
	for range lists {
		<-reading
	}
	c := clientOf(t)
	people := slices.Repeat([]*lk.ParticipantInfo{honest(t, c, engine.Traits{}, "Ann")}, 1000)
	other, _ := answering(t, "other", an{status: 200, body: encoded(t, listOf(people...))})
	if got, err := other.Participants(t.Context(), "room"); err != nil || len(got) != 1000 {
		t.Errorf("%d participants, %v", len(got), err)
	}
	if len(done) > 0 {
		t.Error("a list has waited for another namespace's")
	}
	cancel()
	for range lists {
		if err := <-done; err == nil {
			t.Error("half a list was taken for a list")
		}
	}
}

// FuzzList: what the protocol's own decoder takes is listed alike.
func FuzzList(f *testing.F) {
	f.Add(elements(3, []byte{0x12, 1, 'i'}))
	f.Add(elements(1, []byte{0x22, 0, 0x22, 0}))
	f.Add([]byte{0x0a, 0xff})
	f.Add([]byte{0x08, 1, 0x15, 0, 0, 0, 0, 0x19, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		var got []string
		l := &list{
			element: participantFields, maxLength: maxParticipantSize, fields: fieldsOfAll,
			take: func(encoded []byte, _ bool) (bool, error) {
				var p lk.ParticipantInfo
				err := proto.Unmarshal(encoded, &p)
				got = append(got, p.GetIdentity())
				return true, err
			},
		}
		err := l.readElements(bytes.NewReader(body), maxWeight)
		var want lk.ListParticipantsResponse
		if proto.Unmarshal(body, &want) != nil || len(body) > maxParticipantSize {
			return
		}
		if errors.Is(err, errMalformed) {
			return // Groups are of no protocol of today.
		}
		if err != nil || len(got) != len(want.GetParticipants()) {
			t.Fatalf("%d participants, want %d: %v", len(got), len(want.GetParticipants()), err)
		}
		for i, p := range want.GetParticipants() {
			if got[i] != p.GetIdentity() && len(p.GetIdentity()) <= maxShort {
				t.Errorf("participant %d is %q, want %q", i, got[i], p.GetIdentity())
			}
		}
	})
}
