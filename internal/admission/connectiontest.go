// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// testConnections is how many connections a test has: one sends a picture, the other receives it.
	testConnections = 2
	// testRoomKept is how long the media server keeps a test's room in which nobody is. Between two steps of a test the page
	// connects again.
	testRoomKept = 30 * time.Second
)

// TestRights are those of both connections of a test. A picture is enough for it.
var TestRights = engine.Rights{Forbidden: engine.Microphone | engine.Screen | engine.Chat}

// ConnectionTest is the right to test a connection.
type ConnectionTest struct {
	Media *tenant.Media
	// Sender and Receiver give the right to the two connections.
	Sender, Receiver engine.Grant
}

// OpenTest makes a room in which a person can test their connection who may enter a meeting, on the media server where it is or would
// be. It starts no meeting and writes nothing down. Whether the meeting is full, and whether the person would have to wait, does not
// matter.
func (s *Service) OpenTest(ctx context.Context, t *tenant.Tenant, a Entrant, password string, g Guard) (ConnectionTest, error) {
	var none ConnectionTest
	if !t.HasMedia() {
		return none, ErrNoMedia
	}
	view, err := s.findMeeting(ctx, t, a, g)
	if fault.Is(err, fault.KindGone) {
		return none, ErrEnded
	}
	if err != nil {
		return none, err
	}
	if view.UID != "" { // What does not exist yet keeps nobody out.
		if _, _, err := s.recognize(ctx, t, view, a, password, g); err != nil {
			return none, err
		}
	}
	media, err := mediaOf(t, view)
	if err != nil {
		return none, err
	}
	if err := g.MayTest(); err != nil {
		return none, err
	}
	room := meeting.TestRoom{
		ConfigUID: string(t.UID), MediaServer: media.Tag(), Ends: a.at.Add(meeting.TestDuration), ID: randomLetters() + randomLetters(),
	}.Name()
	options := engine.RoomOptions{MaxParticipants: testConnections, EmptyTimeout: testRoomKept}
	if err := media.Engine.Ensure(ctx, room, options, engine.RoomState{}); err != nil {
		return none, OfEngine(err)
	}
	return ConnectionTest{Media: media, Sender: testGrant(room), Receiver: testGrant(room)}, nil
}

func testGrant(room engine.RoomName) engine.Grant {
	return engine.Grant{
		Room: room, Identity: newIdentity(randomLetters()), Forbidden: TestRights.Forbidden, Lifetime: meeting.TestDuration,
	}
}

// findMeeting is meetingFor without a change.
func (s *Service) findMeeting(ctx context.Context, t *tenant.Tenant, a Entrant, g Guard) (view meeting.View, err error) {
	opens := mayOpen(t, a) && !a.Meeting.HasPassword
	err = s.seek(ctx, t, a, g, func() error {
		view, err = s.meetings.Preview(ctx, t, a.Room, a.Lineage, opens)
		return err
	})
	if needsLoginToOpen(t, a, err) {
		err = errLoginToOpen
	}
	return view, err
}
