// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/twitchtv/twirp"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	// maxAnswer bounds an answer that is no list, in bytes. The longest is about one participant.
	maxAnswer = maxParticipantSize + 4<<10
	// maxError bounds what is read of an error, in bytes, and maxErrorText what is kept of its text.
	maxError, maxErrorText = 4 << 10, 500
)

// bounded bounds what LiveKit's answers take. The client that is made for the protocol reads all of an answer, takes memory for all
// elements that the answer names, and shows no headers: bounded reads lists itself, and refuses answers that ask for a login.
type bounded struct {
	http.RoundTripper
	// namespace is whose share of the memory for lists is taken.
	namespace string
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	reader, isList := r.Context().Value(listReader{}).(*list)
	switch {
	case answer.StatusCode != http.StatusOK:
		if ofProtocol := shortenError(answer); asksForLogin(answer, ofProtocol) {
			return nil, errAsksForLogin
		}
	case isList:
		err := reader.read(r.Context(), b.namespace, answer)
		_ = answer.Body.Close()
		if err != nil {
			return nil, err
		}
		answer.Body, answer.ContentLength = http.NoBody, 0
	default:
		of, _ := r.Context().Value(answerOf{}).(protoreflect.MessageDescriptor)
		if err := boundOne(answer, of); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// answerOf is the message that an answer is, in the context of a call.
type answerOf struct{}

var errManyMessages = errors.New("the media server answers with more than is known of any participant")

// boundOne reads an answer that is no list.
func boundOne(answer *http.Response, of protoreflect.MessageDescriptor) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, answer.Body, maxAnswer))
	_ = answer.Body.Close()
	if err != nil {
		return err
	}
	if of != nil && messagesIn(of, body) > maxMessages {
		return errManyMessages
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// shortenError leaves of an error its code and the beginning of its text. The client copies an error's metadata once for each member. An error
// that is not of the protocol, as shortenError reports, keeps its status alone.
func shortenError(answer *http.Response) (ofProtocol bool) {
	var said struct {
		Code string          `json:"code"`
		Msg  string          `json:"msg"`
		Meta json.RawMessage `json:"meta,omitempty"`
	}
	from := json.NewDecoder(io.LimitReader(answer.Body, maxError))
	from.DisallowUnknownFields()
	err := from.Decode(&said)
	_ = answer.Body.Close()
	answer.Body = http.NoBody
	if to := answer.Header.Get("Location"); len(to) > maxErrorText {
		answer.Header.Set("Location", to[:maxErrorText])
	}
	if err != nil || !twirp.IsValidErrorCode(twirp.ErrorCode(said.Code)) {
		return false
	}
	said.Meta, said.Msg = nil, said.Msg[:min(len(said.Msg), maxErrorText)]
	short, err := json.Marshal(said)
	if err == nil {
		answer.Body = io.NopCloser(bytes.NewReader(short))
	}
	return err == nil
}
