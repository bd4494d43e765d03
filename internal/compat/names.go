// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"crypto/rand"
	"math/big"
	"strings"
)

// Random is the value of room and name in a link that asks the service to make one up.
const Random = "random"

// RoomName makes up the name of a room. It has 80 random bits, so that nobody finds the room by trying names.
func RoomName() string {
	letters := strings.ToLower(rand.Text())
	return strings.Join([]string{letters[:4], letters[4:8], letters[8:12], letters[12:16]}, "-")
}

var (
	qualities = strings.Fields("Amber Brave Bright Calm Clever Cosy Curious Daring Eager Fair Gentle Golden Happy Jolly Keen Kind " +
		"Lively Lucky Merry Mellow Nimble Noble Patient Plucky Proud Quick Quiet Silver Sunny Swift Warm Witty")
	animals = strings.Fields("Badger Beaver Crane Deer Dolphin Falcon Finch Fox Gecko Hare Heron Ibex Jay Koala Lark Lynx " +
		"Marten Moose Newt Otter Owl Panda Puffin Quail Raven Robin Seal Sparrow Stork Swan Tern Wren")
)

// FriendlyName makes up a name for a participant. Two may get the same; the service numbers them.
func FriendlyName() string { return pick(qualities) + " " + pick(animals) }

func pick(words []string) string {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(len(words))))
	if err != nil {
		panic(err) // It never fails: crypto/rand ends the program first.
	}
	return words[n.Int64()]
}
