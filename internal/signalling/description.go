// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"slices"
	"strings"

	lk "github.com/livekit/protocol/livekit"
	"github.com/pion/sdp/v3"
)

const (
	// maxDescription bounds a session description, in bytes: browsers write 0.6 kB for each sound that they receive, and 1.8 kB for each
	// picture. A thousand sounds and a hundred pictures fit.
	maxDescription = 1 << 20
	// maxSections and maxLines are of a whole description. A line of five bytes takes a hundred when it is parsed.
	maxSections, maxLines = 2000, 50_000
	// maxOffer and maxOfferSections are of an offer, which is about what the page sends. Forty shares of a screen fit: each leaves two
	// sections behind. LiveKit keeps 4 kB for each section, and four times the length.
	maxOffer, maxOfferSections = 256 << 10, 100
	// maxSent bounds the media sections with a track that the browser sends. LiveKit may write the whole description for each.
	maxSent = 8
	// maxSectionAttributes and maxFormats are of one media section. LiveKit looks for each format in all attributes. Browsers write up to
	// 125 attributes and 23 formats.
	maxSectionAttributes, maxFormats = 300, 64
)

// description builds a session description of a type, offer or answer. Its error is an InvalidError.
//
// Candidates are left out: livekit-client sends each of them in a message of its own, and LiveKit writes the whole description into
// its log for each that it cannot read.
func description(given *lk.SessionDescription, typ string) (*lk.SessionDescription, error) {
	if err := checkDescription(given, typ); err != nil {
		return nil, err
	}
	parsed := &sdp.SessionDescription{}
	if err := parsed.UnmarshalString(given.GetSdp()); err != nil {
		return nil, invalid("a session description cannot be parsed")
	}
	parsed.Attributes = slices.DeleteFunc(parsed.Attributes, sdp.Attribute.IsICECandidate)
	sent := 0
	for _, section := range parsed.MediaDescriptions {
		if len(section.Attributes) > maxSectionAttributes || len(section.MediaName.Formats) > maxFormats {
			return nil, invalid("a media section has more than %d attributes or %d formats", maxSectionAttributes, maxFormats)
		}
		section.Attributes = slices.DeleteFunc(section.Attributes, sdp.Attribute.IsICECandidate)
		if isSent(section) {
			sent++
		} else {
			// LiveKit looks up each track that a section names, and may log the whole description where there is none.
			section.Attributes = slices.DeleteFunc(section.Attributes, func(a sdp.Attribute) bool { return a.Key == sdp.AttrKeyMsid })
		}
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

// checkDescription checks what can be checked before a description is parsed, which takes memory.
func checkDescription(given *lk.SessionDescription, typ string) error {
	text, most, sections := given.GetSdp(), maxDescription, maxSections
	if typ == "offer" {
		most, sections = maxOffer, maxOfferSections
	}
	switch {
	case given.GetType() != typ:
		return invalid("the type of a session description is not %s", typ)
	case len(text) > most:
		return invalid("a session description is longer than %d bytes", most)
	case strings.Count(text, "\r") != strings.Count(text, "\r\n"):
		// For each carriage return in a line, LiveKit's parser cuts the line by a character: LiveKit would read other lines than this.
		return invalid("a line of a session description has a carriage return in it")
	case strings.Count(text, "\nm=") > sections:
		return invalid("a session description has more than %d media sections", sections)
	case strings.Count(text, "\n") > maxLines:
		return invalid("a session description has more than %d lines", maxLines)
	}
	return nil
}

// isSent reports whether the browser sends a track in a section.
func isSent(section *sdp.MediaDescription) bool {
	for _, direction := range []string{sdp.AttrKeyInactive, sdp.AttrKeyRecvOnly} {
		if _, ok := section.Attribute(direction); ok {
			return false
		}
	}
	_, ok := section.Attribute(sdp.AttrKeyMsid)
	return ok
}
