// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"

	"convene.dev/convene/internal/engine"
)

const engineRoomPrefix = "convene_"

// AllRooms begins the engine's names of the rooms of every installation.
const AllRooms engine.RoomName = engineRoomPrefix

// EngineRoomPrefix begins the engine's names of all rooms of one ConferenceConfig. UIDs are unique over clusters, so
// that several installations can share one engine and each knows its own rooms.
func EngineRoomPrefix(configUID string) engine.RoomName {
	return engine.RoomName(engineRoomPrefix + configUID + "_")
}

// EngineRoom is the engine's name of a Meeting's room.
func EngineRoom(configUID, meetingUID string) engine.RoomName {
	return EngineRoomPrefix(configUID) + engine.RoomName(meetingUID)
}

// ParseEngineRoom takes apart what EngineRoom made, and WaitingRoom of it; not ok for other rooms of the engine.
func ParseEngineRoom(room engine.RoomName) (configUID, meetingUID string, ok bool) {
	rest, ok := strings.CutPrefix(string(RoomOfWaiting(room)), engineRoomPrefix)
	if !ok {
		return "", "", false
	}
	configUID, meetingUID, ok = strings.Cut(rest, "_")
	return configUID, meetingUID, ok && configUID != "" && meetingUID != ""
}
