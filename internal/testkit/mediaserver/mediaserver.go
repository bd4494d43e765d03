// SPDX-License-Identifier: Apache-2.0

// Package mediaserver is a media server for tests of load and faults: it speaks the part of LiveKit's API that Convene
// uses, with as many rooms as a test wants and any delay, loss or limit, and carries no media. A test holds its answers
// against those of LiveKit itself.
package mediaserver

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	lk "github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/webhook"
	"golang.org/x/time/rate"
)

// Server is a media server.
type Server struct {
	// URL, Key and Secret are those of its API.
	URL, Key, Secret string

	mu    sync.Mutex
	rooms map[string]*room
	calls map[string]int
	// listed is how many rooms it has answered with.
	listed int
	fault  Fault
	limit  *rate.Limiter
	// webhooks is nil where no webhook is sent.
	webhooks webhook.QueuedNotifier
}

// room is not changed: its parts are replaced.
type room struct {
	info   *lk.Room
	people []*lk.ParticipantInfo
}

// Fault is what is wrong with a server, or with the network before it.
type Fault struct {
	// Delay is before each answer.
	Delay time.Duration
	// Swallow answers nothing: a call lasts as long as its caller has patience.
	Swallow bool
	// Lose answers nothing to one call of so many; 0 is none.
	Lose int
	// Limit is how many calls a second it takes; it answers the others that they are too many. 0 is no limit.
	Limit float64
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Key: "key", Secret: "a-secret-that-is-long-enough-for-hmac", rooms: map[string]*room{}, calls: map[string]int{}}
	handler := lk.NewRoomServiceServer(service{server: s})
	web := httptest.NewServer(s.faults(handler))
	s.URL = web.URL
	t.Cleanup(func() {
		s.Break(Fault{})
		web.CloseClientConnections()
		web.Close()
	})
	return s
}

// Break has everything that follows suffer a fault. The zero Fault is none.
func (s *Server) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.limit = f, nil
	if f.Limit > 0 {
		s.limit = rate.NewLimiter(rate.Limit(f.Limit), max(int(f.Limit), 1))
	}
}

// Fill makes a room with people in it, or replaces it.
func (s *Server) Fill(name string, people ...*lk.ParticipantInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rooms[name] = &room{info: newRoom(name)}
	s.rooms[name].seat(people)
}

// newRoom is a room of which the media server says as much as LiveKit does.
func newRoom(name string) *lk.Room {
	now := time.Now()
	r := &lk.Room{
		Sid: "RM_" + rand.Text()[:12], Name: name, CreationTime: now.Unix(), CreationTimeMs: now.UnixMilli(), TurnPassword: (rand.Text() + rand.Text())[:44],
		EmptyTimeout: 300, DepartureTimeout: 20, Metadata: "{}",
	}
	for _, mime := range []string{
		"audio/PCMU", "audio/PCMA", "audio/opus", "audio/red", "video/VP8", "video/H264", "video/VP9", "video/AV1", "video/H265", "video/rtx",
	} {
		r.EnabledCodecs = append(r.EnabledCodecs, &lk.Codec{Mime: mime})
	}
	return r
}

// Has says whether a room is there.
func (s *Server) Has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rooms[name] != nil
}

// Calls counts the calls of each verb, refused ones included.
func (s *Server) Calls(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[verb]
}

// Listed counts the rooms in all answers.
func (s *Server) Listed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// Person is a participant who may send sound, pictures and a screen, as one who joins without limits.
func Person(identity string, joined time.Time) *lk.ParticipantInfo {
	return &lk.ParticipantInfo{
		Sid: "PA_" + rand.Text()[:12], Version: 2, Identity: identity, Name: identity, State: lk.ParticipantInfo_ACTIVE, JoinedAt: joined.Unix(), JoinedAtMs: joined.UnixMilli(),
		Permission: &lk.ParticipantPermission{CanSubscribe: true, CanPublish: true, CanPublishSources: []lk.TrackSource{
			lk.TrackSource_CAMERA, lk.TrackSource_MICROPHONE, lk.TrackSource_SCREEN_SHARE, lk.TrackSource_SCREEN_SHARE_AUDIO,
		}},
	}
}

func visible(people []*lk.ParticipantInfo) (count uint32) {
	for _, p := range people {
		if !p.GetPermission().GetHidden() {
			count++
		}
	}
	return count
}

// faults does to a call what is wrong now.
func (s *Server) faults(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault, refused, lost := s.count(r)
		switch {
		case fault.Swallow || lost:
			_, _ = io.Copy(io.Discard, r.Body) // Else it is not noticed that the caller has gone.
			<-r.Context().Done()
			return
		case refused:
			w.WriteHeader(http.StatusTooManyRequests)
			return
		case s.refuses(r):
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		select {
		case <-time.After(fault.Delay):
		case <-r.Context().Done():
			return
		}
		next.ServeHTTP(w, r)
	})
}
