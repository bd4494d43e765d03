// SPDX-License-Identifier: Apache-2.0

// Package observer looks at media servers and remembers what it saw: their rooms, the participants, and since when a server
// answers. What it remembers is a cache: after a restart it knows nothing, and says so, until it has looked.
//
// An Observer has a server for each media server and key. Each second it lists the rooms of each (server.go) and looks into
// those whose turn it is (turns.go), as fast as the media server can bear (pace.go). Beside that it checks whether listed
// participants are really there (presence.go), and closes rooms that belong to no live Meeting (strays.go). Only the leader runs one.
package observer
