// SPDX-License-Identifier: Apache-2.0

package mediaserver

import (
	"context"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/webhook"
	"github.com/twitchtv/twirp"
	"google.golang.org/protobuf/proto"
)

// count counts a call and says what happens to it.
func (s *Server) count(r *http.Request) (fault Fault, refused, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	verb := path.Base(r.URL.Path)
	s.calls[verb]++
	s.calls[""]++
	lost = s.fault.Lose > 0 && s.calls[""]%s.fault.Lose == 0
	return s.fault, s.limit != nil && !s.limit.Allow(), lost
}

// service answers as LiveKit does. What Convene does not use is not there.
type service struct {
	lk.RoomService
	server *Server
}

func (s service) CreateRoom(_ context.Context, r *lk.CreateRoomRequest) (*lk.Room, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	there := s.server.rooms[r.GetName()]
	if there == nil {
		there = &room{info: newRoom(r.GetName())}
		there.info.Metadata, there.info.MaxParticipants = r.GetMetadata(), r.GetMaxParticipants()
		there.info.EmptyTimeout, there.info.DepartureTimeout = r.GetEmptyTimeout(), r.GetDepartureTimeout()
		s.server.rooms[r.GetName()] = there
		s.server.notify(webhook.EventRoomStarted, there, nil, nil)
	}
	return there.info, nil
}

func (s service) ListRooms(_ context.Context, r *lk.ListRoomsRequest) (*lk.ListRoomsResponse, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	list := &lk.ListRoomsResponse{}
	for _, name := range r.GetNames() {
		if there := s.server.rooms[name]; there != nil {
			list.Rooms = append(list.Rooms, there.info)
		}
	}
	if len(r.GetNames()) == 0 {
		for _, there := range s.server.rooms {
			list.Rooms = append(list.Rooms, there.info)
		}
	}
	s.server.listed += len(list.Rooms)
	return list, nil
}

func (s service) DeleteRoom(_ context.Context, r *lk.DeleteRoomRequest) (*lk.DeleteRoomResponse, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	there := s.server.rooms[r.GetRoom()]
	if there == nil {
		return nil, twirp.NotFoundError("requested room does not exist")
	}
	s.server.notify(webhook.EventRoomFinished, there, nil, nil)
	delete(s.server.rooms, r.GetRoom())
	return &lk.DeleteRoomResponse{}, nil
}

func (s service) ListParticipants(_ context.Context, r *lk.ListParticipantsRequest) (*lk.ListParticipantsResponse, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	list := &lk.ListParticipantsResponse{}
	if there := s.server.rooms[r.GetRoom()]; there != nil {
		list.Participants = there.people
	}
	return list, nil
}

// UpdateRoomMetadata has pages leave, as they do when they are told of the end.
func (s service) UpdateRoomMetadata(_ context.Context, r *lk.UpdateRoomMetadataRequest) (*lk.Room, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	there := s.server.rooms[r.GetRoom()]
	if there == nil {
		return nil, twirp.NotFoundError("requested room does not exist")
	}
	there.change(func(info *lk.Room) { info.Metadata = r.GetMetadata() })
	if strings.Contains(r.GetMetadata(), `"ended":true`) {
		there.seat(nil)
	}
	return there.info, nil
}

func (s service) GetParticipant(_ context.Context, r *lk.RoomParticipantIdentity) (*lk.ParticipantInfo, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	p, err := s.server.participant(r.GetRoom(), r.GetIdentity())
	return proto.CloneOf(p), err
}

// UpdateParticipant replaces the participant, which answers of before hold.
func (s service) UpdateParticipant(_ context.Context, r *lk.UpdateParticipantRequest) (*lk.ParticipantInfo, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	p, err := s.server.participant(r.GetRoom(), r.GetIdentity())
	if err != nil {
		return nil, err
	}
	changed := proto.CloneOf(p)
	if r.GetPermission() != nil {
		changed.Permission = proto.CloneOf(r.GetPermission())
	}
	if len(r.GetAttributes()) > 0 && changed.Attributes == nil {
		changed.Attributes = map[string]string{}
	}
	maps.Copy(changed.Attributes, r.GetAttributes())
	people := slices.Clone(s.server.rooms[r.GetRoom()].people)
	people[slices.Index(people, p)] = changed
	s.server.rooms[r.GetRoom()].people = people
	return proto.CloneOf(changed), nil
}

// participant is called with mu held.
func (s *Server) participant(room, identity string) (*lk.ParticipantInfo, error) {
	if there := s.rooms[room]; there != nil {
		for _, p := range there.people {
			if p.GetIdentity() == identity {
				return p, nil
			}
		}
	}
	return nil, twirp.NotFoundError("participant does not exist")
}

func (s service) RemoveParticipant(_ context.Context, r *lk.RoomParticipantIdentity) (*lk.RemoveParticipantResponse, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	there := s.server.rooms[r.GetRoom()]
	if there == nil || !slices.ContainsFunc(there.people, func(p *lk.ParticipantInfo) bool { return p.GetIdentity() == r.GetIdentity() }) {
		return nil, twirp.NotFoundError("participant does not exist")
	}
	there.seat(slices.DeleteFunc(slices.Clone(there.people), func(p *lk.ParticipantInfo) bool { return p.GetIdentity() == r.GetIdentity() }))
	return &lk.RemoveParticipantResponse{}, nil
}

// SendData reaches nobody here. LiveKit looks for a room that is not there until it gives up.
func (s service) SendData(ctx context.Context, r *lk.SendDataRequest) (*lk.SendDataResponse, error) {
	if s.server.Has(r.GetRoom()) {
		return &lk.SendDataResponse{}, nil
	}
	select {
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
	}
	return nil, twirp.NewError(twirp.Unavailable, "no response from servers")
}

// refuses says whether a call has no token of ours. What the token allows is not looked at.
func (s *Server) refuses(r *http.Request) bool {
	token, err := auth.ParseAPIToken(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if err != nil || token.APIKey() != s.Key {
		return true
	}
	_, _, err = token.Verify(s.Secret)
	return err != nil
}
