// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Bounds of LiveKit's answers, in bytes. Participants decide how long a list of participants is, so that it must not be
// taken on trust: 1,000 honest ones are some 2 MB. A list of 100,000 rooms is 28 MB.
const (
	maxAnswer = 8 << 20
	maxRooms  = 64 << 20
	listRooms = "/ListRooms"
)

var errTooLong = errors.New("the media server's answer is too long")

// bounded refuses answers that are too long. The client that is made for the protocol reads all of them.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	most := int64(maxAnswer)
	if strings.HasSuffix(r.URL.Path, listRooms) {
		most = maxRooms
	}
	answer.Body = &boundedBody{ReadCloser: answer.Body, left: most, most: most}
	return answer, nil
}

type boundedBody struct {
	io.ReadCloser
	left, most int64
}

// Read fails where another reader would say that the answer is over: half a list is none.
func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", errTooLong, b.most)
	}
	return n, err
}
