// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"net/http"
	"strings"
)

// Bounds of LiveKit's answers, in bytes. Participants decide how long a list of participants is, so that it must not be
// taken on trust: 10,000 honest ones are some 7 MB, and 1,300 of maxParticipantSize are taken. A list of 100,000 rooms is 28 MB.
const (
	maxAnswer = 16 << 20
	maxRooms  = 64 << 20
	listRooms = "/ListRooms"
)

// bounded refuses answers that are too long, with an http.MaxBytesError: half a list is none. The client that is made for the protocol
// reads all of them, and shows no headers: bounded also refuses those that ask for a login.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if asksForLogin(answer) {
		_ = answer.Body.Close()
		return nil, errAsksForLogin
	}
	most := int64(maxAnswer)
	if strings.HasSuffix(r.URL.Path, listRooms) {
		most = maxRooms
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, most)
	return answer, nil
}
