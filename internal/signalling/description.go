// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"slices"
	"strings"

	lk "github.com/livekit/protocol/livekit"
	"github.com/pion/sdp/v3"
)

const (
	// maxDescription bounds a session description, in bytes, and maxSections its media sections. A browser has one for each track
	// that it sends or receives.
	maxDescription, maxSections = 240 << 10, 700
	// maxSent bounds the media sections with a track that the browser sends. LiveKit may write the whole description for each.
	maxSent = 8
	// maxAttributes and maxFormats are of one media section. LiveKit looks for each format in all attributes.
	maxAttributes, maxFormats = 500, 128
)

// description builds a session description of a type, offer or answer. Its error is an InvalidError.
//
// Candidates are left out: livekit-client sends each of them in a message of its own, and LiveKit writes the whole description into
// its log for each that it cannot read.
func description(given *lk.SessionDescription, typ string) (*lk.SessionDescription, error) {
	if given.GetType() != typ {
		return nil, invalid("the type of a session description is not %s", typ)
	}
	if len(given.GetSdp()) > maxDescription {
		return nil, invalid("a session description is longer than %d bytes", maxDescription)
	}
	// For each carriage return in a line, LiveKit's parser cuts the line by a character: LiveKit would read other lines than this.
	if strings.Count(given.GetSdp(), "\r") != strings.Count(given.GetSdp(), "\r\n") {
		return nil, invalid("a line of a session description has a carriage return in it")
	}
	parsed := &sdp.SessionDescription{}
	if err := parsed.UnmarshalString(given.GetSdp()); err != nil {
		return nil, invalid("a session description cannot be parsed")
	}
	if len(parsed.MediaDescriptions) > maxSections {
		return nil, invalid("a session description has more than %d media sections", maxSections)
	}
	parsed.Attributes = slices.DeleteFunc(parsed.Attributes, sdp.Attribute.IsICECandidate)
	sent := 0
	for _, section := range parsed.MediaDescriptions {
		if len(section.Attributes) > maxAttributes || len(section.MediaName.Formats) > maxFormats {
			return nil, invalid("a media section has more than %d attributes or %d formats", maxAttributes, maxFormats)
		}
		if _, ok := section.Attribute(sdp.AttrKeyMsid); ok {
			sent++
		}
		section.Attributes = slices.DeleteFunc(section.Attributes, sdp.Attribute.IsICECandidate)
	}
	if sent > maxSent {
		return nil, invalid("a session description has more than %d tracks that are sent", maxSent)
	}
	built, err := parsed.Marshal()
	if err != nil {
		return nil, invalid("a session description cannot be written")
	}
	return &lk.SessionDescription{Type: typ, Sdp: string(built), Id: given.GetId()}, nil
}
