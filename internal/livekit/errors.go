// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/twitchtv/twirp"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// fromIntermediary marks errors that something before LiveKit answered.
const fromIntermediary = "http_error_from_intermediary"

// asFault gives an error of a LiveKit call its consequence.
func asFault(err error) error {
	answer, tooLong := twirp.Error(nil), (*http.MaxBytesError)(nil)
	// One room whose list is too long says nothing about the server, and neither does a want of memory.
	if !errors.As(err, &answer) || errors.As(err, &tooLong) || errors.Is(err, errLongList) || errors.Is(err, engine.ErrNoMemory) || errors.Is(err, errManyMessages) {
		return fault.As(err)
	}
	if notLiveKits(answer) {
		return fault.Unavailable("Something that is not LiveKit answers at the media server's address; check spec.apiURL of its MediaServer").
			Because(err)
	}
	switch answer.Code() {
	case twirp.NotFound:
		return fault.NotFound("The media server does not have that room or participant").Because(err)
	case twirp.Unauthenticated, twirp.PermissionDenied:
		// LiveKit's text repeats the token that it refuses, so it goes no further than here.
		return fault.Unavailable("The media server refuses our key; set its own key and secret in the Secret that its MediaServer names").
			WithReason("Unauthorized").Because(fmt.Errorf("livekit answered %s", answer.Code()))
	case twirp.ResourceExhausted: // HTTP 429
		return fault.Unavailable("The media server takes no more calls now; try again in a moment").
			Because(fmt.Errorf("%w: %w", engine.ErrTooManyCalls, err))
	case twirp.Unavailable, twirp.DeadlineExceeded, twirp.Canceled:
		return outOfReach(err)
	}
	if notAnswered(answer) {
		return outOfReach(err)
	}
	return fault.As(err)
}

// errAsksForLogin is for a 401 that is not LiveKit's.
var errAsksForLogin = errors.New("it asks for a login")

// errNoUnmute is for a LiveKit that turns on nothing that it has turned off.
var errNoUnmute = fault.Conflict("The media server cannot unmute a telephone or a stream; set room.enable_remote_unmute in LiveKit's configuration")

// asksForLogin reports whether an answer is a 401 of a proxy. Many say how to log in, as all have to (RFC 9110), and some answer with a page or
// with JSON. LiveKit's own has neither: it is of the protocol, or plain text.
func asksForLogin(answer *http.Response, ofProtocol bool) bool {
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return answer.StatusCode == http.StatusUnauthorized && !ofProtocol && (answer.Header.Get("WWW-Authenticate") != "" || media != "text/plain")
}

// notLiveKits reports whether a web server, a proxy or a mesh answered in LiveKit's place. Its refusal says nothing about our key. Text
// that is not of the protocol may be LiveKit's only with 401; with 429, 502, 503 and 504 it does not matter whose it is.
func notLiveKits(answer twirp.Error) bool {
	switch answer.Code() {
	case twirp.Unauthenticated, twirp.ResourceExhausted, twirp.Unavailable:
		return false
	case twirp.BadRoute:
		return true
	}
	return answer.Meta(fromIntermediary) == "true" || errors.Is(answer, errAsksForLogin)
}

// unlessNotFound is for what is done already where the room or the participant is not there.
func unlessNotFound(err error) error {
	if fault.Is(err, fault.KindNotFound) {
		return nil
	}
	return err
}

func outOfReach(err error) error {
	return fault.Unavailable("The media server cannot be reached; try again in a moment").Because(err)
}

// notAnswered reports whether the error is from before or after the server's own answer: a connection, a time-out, the
// caller's context. Twirp calls all of these internal, with a cause, which an answer never has.
func notAnswered(err twirp.Error) bool {
	return err.Code() == twirp.Internal && errors.Unwrap(err) != nil
}

// nodeGone reports whether LiveKit answered that it cannot reach the node that has the room. A proxy before LiveKit that
// answers so tells nothing about nodes.
func nodeGone(err error) bool {
	answer := twirp.Error(nil)
	return errors.As(err, &answer) && answer.Code() == twirp.Unavailable && answer.Meta(fromIntermediary) != "true"
}
