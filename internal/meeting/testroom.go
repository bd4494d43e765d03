// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strconv"
	"strings"
	"time"

	"convene.dev/convene/internal/engine"
)

// A person tests their connection in a room of the media server that is for them alone and belongs to no meeting. Its name says
// until when it is there, so that every replica knows that, and nothing is written down.

const (
	// TestDuration is how long a test may take. A script that stays is put out then.
	TestDuration = 2 * time.Minute
	// testMark stands where a meeting's room has the UID of its Meeting. No UID begins like this.
	testMark      = "test-"
	testSeparator = "-"
)

// TestRoom is what the name of a room says in which a person tests their connection.
type TestRoom struct {
	ConfigUID string
	// MediaServer is the tag of the media server that has the room.
	MediaServer string
	// Ends is when the room is removed, in whole seconds.
	Ends time.Time
	// ID is random, so that nobody else gets the same room. Like the tag it has no separator in it.
	ID string
}

// Name is the engine's name of the room.
func (r TestRoom) Name() engine.RoomName {
	parts := []string{strconv.FormatInt(r.Ends.Unix(), 36), r.MediaServer, r.ID}
	return EngineRoom(r.ConfigUID, testMark+strings.Join(parts, testSeparator))
}

// ParseTestRoom reads what Name made; not ok for all other rooms.
func ParseTestRoom(room engine.RoomName) (_ TestRoom, ok bool) {
	config, uid, ok := ParseEngineRoom(room)
	rest, marked := strings.CutPrefix(uid, testMark)
	parts := strings.Split(rest, testSeparator)
	if !ok || !marked || IsWaitingRoom(room) || len(parts) != 3 {
		return TestRoom{}, false
	}
	seconds, err := strconv.ParseInt(parts[0], 36, 64)
	if err != nil {
		return TestRoom{}, false
	}
	return TestRoom{ConfigUID: config, Ends: time.Unix(seconds, 0), MediaServer: parts[1], ID: parts[2]}, true
}

// IsTestRoom says that a person tests their connection in a room.
func IsTestRoom(room engine.RoomName) bool {
	_, is := ParseTestRoom(room)
	return is
}

// IsOver says that the time of the test is over.
func (r TestRoom) IsOver(now time.Time) bool { return !now.Before(r.Ends) }
