// SPDX-License-Identifier: Apache-2.0

package compat

import "strings"

// Place is where an address leads that other services have at the top level, and that is no room.
type Place int

const (
	// NoPlace is of every other name, which a room may have.
	NoPlace Place = iota
	// HomePage is of pages that have no equal here.
	HomePage
	// NewRoom is of pages that lead into a room with a name that is made up.
	NewRoom
	// Login is of pages where people log in; here they do so at the room.
	Login
	// Reserved is of folders.
	Reserved
)

// places are by their name in lower case: services differ in it.
var places = map[string]Place{
	"newcall": NewRoom, "newroom": NewRoom,
	"login": Login, "logout": HomePage, "logged": HomePage, "profile": HomePage, "permission": HomePage,
	"config": HomePage, "brand": HomePage, "rtmp": HomePage,
	"customizeroom": HomePage, "activerooms": HomePage, "stats": HomePage, "about": HomePage, "privacy": HomePage, "icetest": HomePage,
	"js": Reserved, "whoareyou": Reserved,
}

// PlaceOf says where a name at the top level leads.
func PlaceOf(name string) Place { return places[strings.ToLower(name)] }
