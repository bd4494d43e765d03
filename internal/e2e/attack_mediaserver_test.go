// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// chartsMemory is the memory that the chart gives a manager.
var chartsMemory = testkit.ManagerOptions{Env: []string{"GOMEMLIMIT=460MiB"}}

// hostileServers makes MediaServers, and tenants that may use sixteen of them each.
func hostileServers(t *testing.T, w *world, url string, servers int) (tenants []*v1alpha1.ConferenceConfig) {
	t.Helper()
	for i := range servers {
		if i%16 == 0 {
			c := &v1alpha1.ConferenceConfig{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprint("hostile-", i/16)}}
			c.Spec.Variant, c.Spec.BaseURL = v1alpha1.VariantA, fmt.Sprintf("https://hostile-%d.example.com", i/16)
			c.Spec.API = &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api-a", Key: "key"}}, Extensions: []string{"control"}}
			for k := i; k < min(i+16, servers); k++ {
				c.Spec.MediaRefs = append(c.Spec.MediaRefs, testkit.MediaRefs(fmt.Sprint("hostile-", k))...)
			}
			w.Create(t, c)
			tenants = append(tenants, c)
		}
		server := testkit.MediaServer(w.Namespace, fmt.Sprint(url, "/", i))
		server.Name = fmt.Sprint("hostile-", i)
		w.Create(t, server)
	}
	return tenants
}

// saying is a media server that answers calls by their names.
func saying(t *testing.T, of map[string]func(r *http.Request) proto.Message) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body) // Else the server does not notice that the caller has gone.
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(asked))
		answer := of[path.Base(r.URL.Path)]
		if answer == nil {
			out.WriteHeader(http.StatusInternalServerError)
			return
		}
		body, err := proto.Marshal(answer(r))
		if err != nil {
			t.Error(err)
		}
		out.Header().Set("Content-Type", "application/protobuf")
		out.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = out.Write(body)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestAttackByWhatMediaServersKeep: 31 media servers of a namespace say as much as they may about rooms that are there, and do not answer what
// is then asked of them. What managers keep of it is bounded, and another tenant's calls are answered.
func TestAttackByWhatMediaServersKeep(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	const servers = 31
	// holds watches the manager for a while.
	holds := func(t *testing.T, w *world, before, most float64) {
		t.Helper()
		for began := time.Now(); time.Since(began) < 15*time.Second; <-time.After(500 * time.Millisecond) {
			w.a.want(http.StatusOK, "GET", "/api/v1/stats", nil)
		}
		held, peak := heldMemory(t, w.manager.PID()), peakMemory(t, w.manager.PID())
		t.Logf("%.0f MB, %.0f at most, %.0f before", held, peak, before)
		if held-before > most {
			t.Errorf("%.0f MB, %.0f at most, %.0f before", held, peak, before)
		}
	}
	t.Run("rooms with long metadata", func(t *testing.T) {
		w := newWorldWith(t, testkit.ControlPlane(t), chartsMemory)
		before := heldMemory(t, w.manager.PID())
		var tenants atomic.Pointer[[]*v1alpha1.ConferenceConfig]
		hostile := saying(t, map[string]func(*http.Request) proto.Message{"ListRooms": func(r *http.Request) proto.Message {
			var list lk.ListRoomsResponse
			n, _ := strconv.Atoi(strings.Split(r.URL.Path, "/")[1])
			if of := tenants.Load(); of != nil {
				for i := range 1900 {
					list.Rooms = append(list.Rooms, &lk.Room{
						Name:     string(meeting.EngineRoom(string((*of)[n/16].UID), fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", n, i))),
						Metadata: `{"admission":"` + strings.Repeat("a", 7900) + `"}`,
					})
				}
			}
			return &list
		}})
		of := hostileServers(t, w, hostile.URL, servers)
		tenants.Store(&of)
		holds(t, w, before, 120)
	})
	t.Run("participants whose sounds are not turned off", func(t *testing.T) {
		w := newWorldWith(t, testkit.ControlPlane(t), chartsMemory)
		before := heldMemory(t, w.manager.PID())
		var rooms [2]atomic.Pointer[lk.ListRoomsResponse]
		who := &lk.ParticipantInfo{Identity: "aaaa-bbbb", Name: "n", JoinedAt: 1, State: lk.ParticipantInfo_ACTIVE,
			Permission: &lk.ParticipantPermission{CanPublish: true, CanSubscribe: true}}
		var hanging atomic.Int64
		hostile := saying(t, map[string]func(*http.Request) proto.Message{
			"ListRooms": func(r *http.Request) proto.Message {
				n, _ := strconv.Atoi(strings.Split(r.URL.Path, "/")[1])
				if list := rooms[n/16].Load(); list != nil {
					return list
				}
				return &lk.ListRoomsResponse{}
			},
			"ListParticipants": func(*http.Request) proto.Message {
				return &lk.ListParticipantsResponse{Participants: []*lk.ParticipantInfo{who}}
			},
			"GetParticipant": func(*http.Request) proto.Message {
				all := proto.CloneOf(who)
				for range 64 {
					all.Tracks = append(all.Tracks, &lk.TrackInfo{Sid: "TR_x", Type: lk.TrackType_AUDIO, Codecs: slices.Repeat([]*lk.SimulcastCodecInfo{{}}, 6)})
				}
				return all
			},
			"MutePublishedTrack": func(r *http.Request) proto.Message {
				hanging.Add(1)
				<-r.Context().Done()
				return &lk.MuteRoomTrackResponse{}
			},
		})
		for k, c := range hostileServers(t, w, hostile.URL, servers) {
			var list lk.ListRoomsResponse
			for i := range 32 {
				m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("m-%d-%d", k, i)}}
				m.Spec.Room, m.Spec.ConfigRef.Name = m.Name, c.Name
				m.Spec.Policy = &v1alpha1.MeetingPolicy{Microphone: v1alpha1.Presenters}
				w.Create(t, m)
				list.Rooms = append(list.Rooms, &lk.Room{Name: string(meeting.EngineRoom(string(c.UID), string(m.UID))), NumParticipants: 1})
			}
			rooms[k].Store(&list)
		}
		holds(t, w, before, 120)
		if hanging.Load() == 0 {
			t.Error("nobody was muted")
		}
	})
	t.Run("long lists, while another is awaited", func(t *testing.T) {
		w := newWorldWith(t, testkit.ControlPlane(t), chartsMemory)
		before := heldMemory(t, w.manager.PID())
		var people lk.ListParticipantsResponse
		for i := range 1900 {
			people.Participants = append(people.Participants, &lk.ParticipantInfo{
				Identity: fmt.Sprintf("id%d-x", i), Name: strings.Repeat("n", 8200), State: lk.ParticipantInfo_ACTIVE,
			})
		}
		hostile := saying(t, map[string]func(*http.Request) proto.Message{"ListParticipants": func(r *http.Request) proto.Message {
			body, _ := io.ReadAll(r.Body)
			var asked lk.ListParticipantsRequest
			if err := proto.Unmarshal(body, &asked); err != nil {
				t.Error(err)
			}
			if meeting.IsWaitingRoom(engine.RoomName(asked.GetRoom())) {
				<-r.Context().Done()
			}
			return &people
		}})
		c := hostileServers(t, w, hostile.URL, 1)[0]
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: "r", Annotations: map[string]string{v1alpha1.AnnotationRoomOpened: "2026-01-01T00:00:00Z"},
		}}
		m.Spec.Room, m.Spec.ConfigRef.Name, m.Spec.Admission = "r", c.Name, v1alpha1.AdmissionAsk
		w.Create(t, m)
		list := func() int {
			q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.a.baseURL+"/api/v1/meeting/r/participants?limit=1", nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Host = "hostile-0.example.com"
			q.Header.Set("Authorization", w.a.key)
			answer, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Error(err)
				return 0
			}
			_ = answer.Body.Close()
			return answer.StatusCode
		}
		w.eventually(t, func() error {
			if status := list(); status != http.StatusServiceUnavailable {
				return fmt.Errorf("%d", status)
			}
			return nil
		})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { list() })
		}
		holds(t, w, before, 220)
		all.Wait()
	})
}

// TestAttackByAMediaServer: whoever writes a MediaServer decides what answers the managers, and no tenant has to use it. What such servers
// answer takes little memory, little time and little of the log, and the other tenants' calls are answered.
func TestAttackByAMediaServer(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	const servers, looks = 10, 10 * time.Second
	empty := bytes.Repeat([]byte{0x0a, 0}, 8<<20)
	members := map[string]string{}
	for i := range 9000 {
		members[strconv.Itoa(i)] = ""
	}
	meta, err := json.Marshal(map[string]any{"code": "internal", "msg": strings.Repeat("m", 8<<20), "meta": members})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(empty) // A bytes.Buffer takes everything.
	_ = w.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"elements of two bytes": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(empty) },
		"such elements, packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		},
		"an error with many members": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(meta)
		},
		"a long header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", strings.Repeat("x", 9<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, testkit.ControlPlane(t), chartsMemory)
			before, spentBefore := heldMemory(t, w.manager.PID()), cpu(t, w.manager.PID())
			var sent atomic.Int64
			hostile := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				sent.Add(1)
				answer(out, r)
			}))
			defer hostile.Close()
			for i := range servers {
				server := testkit.MediaServer(w.Namespace, hostile.URL+fmt.Sprint("/", i))
				server.Name = fmt.Sprint("hostile-", i)
				w.Create(t, server)
			}
			most, slowest, began := before, time.Duration(0), time.Now()
			for time.Since(began) < looks {
				asked := time.Now()
				w.a.want(http.StatusOK, "GET", "/api/v1/stats", nil)
				slowest = max(slowest, time.Since(asked))
				most = max(most, heldMemory(t, w.manager.PID()))
			}
			spent := cpu(t, w.manager.PID()) - spentBefore
			longest := 0
			for line := range strings.Lines(w.manager.Log()) {
				longest = max(longest, len(line))
			}
			t.Logf("%d answers: %.0f MB at most, %.0f before; %s of processor; the slowest call took %s; the longest line has %d bytes",
				sent.Load(), most, before, spent, slowest, longest)
			if sent.Load() < servers || most-before > 80 || longest > 2000 {
				t.Errorf("%d answers: %.0f MB at most, %.0f before; the longest line has %d bytes", sent.Load(), most, before, longest)
			}
		})
	}
}
