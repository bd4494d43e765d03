// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/url"
	"sync"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
)

const (
	// TokenParameter is the query parameter with the access token.
	TokenParameter = "access_token"
	joinParameter  = "join_request"
	// reconnectParameter asks for what a join request has in a field.
	reconnectParameter = "reconnect"
	// maxJoin bounds an unpacked join request, in bytes. A browser's join request has about 10 kB.
	maxJoin = 64 << 10
)

// parameters are the query parameters that livekit-client sends beside a join request, or in place of it. LiveKit knows more:
// publish makes the connection another identity, and attributes become the participant's.
var parameters = []string{
	TokenParameter, "auto_subscribe", reconnectParameter, "reconnect_reason", "sid", "sdk", "version", "protocol", "client_protocol",
	"device_model", "os", "os_version", "browser", "browser_version", "adaptive_stream", "disable_ice_lite", "subscriber_allow_pause", "network",
}

// joinFields are the fields of a join request that livekit-client sends.
var joinFields = numbersOf(&lk.JoinRequest{},
	"client_info", "connection_settings", "publisher_offer", "reconnect", "reconnect_reason", "participant_sid")

// Query builds the query for the media server from the query of a browser, and reports whether it resumes a connection. Of a parameter that is
// given twice the first counts. Its error is an InvalidError.
func Query(given url.Values) (query url.Values, resumes bool, err error) {
	query = url.Values{}
	for _, name := range parameters {
		value := given.Get(name)
		switch {
		case value == "":
		case len(value) > maxText && name != TokenParameter:
			return nil, false, invalid("the parameter %s is longer than %d bytes", name, maxText)
		default:
			query.Set(name, value)
		}
	}
	packed := given.Get(joinParameter)
	if packed == "" {
		return query, query.Has(reconnectParameter), nil
	}
	built, resumes, err := joinRequest(packed)
	query.Set(joinParameter, built)
	return query, resumes, err
}

// joinRequest builds a packed join request from a browser's. LiveKit does all that a join request asks for before
// anybody is in: one of 2 kB that unpacks to 170,000 tracks has it write its log for minutes.
func joinRequest(given string) (built string, resumes bool, err error) {
	data, err := unpack(given)
	if err != nil {
		return "", false, err
	}
	request, err := decodeJoin(data)
	if err != nil {
		return "", false, err
	}
	built, err = pack(request)
	return built, request.GetReconnect(), err
}

func decodeJoin(data []byte) (*lk.JoinRequest, error) {
	request := &lk.JoinRequest{}
	if err := decode(data, request, joinFields); err != nil {
		return nil, err
	}
	offer := request.GetPublisherOffer()
	request.PublisherOffer = nil
	if err := bounded(request.ProtoReflect(), maxList); err != nil || offer == nil {
		return request, err
	}
	var err error
	request.PublisherOffer, err = description(offer, "offer")
	return request, err
}

// unpack returns the encoded join request in a parameter.
func unpack(given string) ([]byte, error) {
	data, err := base64.URLEncoding.DecodeString(given)
	if err != nil {
		return nil, errMalformed
	}
	wrapped := &lk.WrappedJoinRequest{}
	if err := proto.Unmarshal(data, wrapped); err != nil {
		return nil, errMalformed
	}
	var r io.Reader = bytes.NewReader(wrapped.GetJoinRequest())
	switch wrapped.GetCompression() {
	case lk.WrappedJoinRequest_NONE:
	case lk.WrappedJoinRequest_GZIP:
		if r, err = gzip.NewReader(r); err != nil {
			return nil, errMalformed
		}
	default:
		return nil, errMalformed
	}
	data, err = io.ReadAll(io.LimitReader(r, maxJoin+1))
	switch {
	case err != nil:
		return nil, errMalformed
	case len(data) > maxJoin:
		return nil, invalid("the join request is longer than %d bytes", maxJoin)
	}
	return data, nil
}

// packers take most of a megabyte each.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

func pack(request *lk.JoinRequest) (string, error) {
	data, err := proto.Marshal(request)
	if err != nil {
		return "", err
	}
	return packBytes(data)
}

func packBytes(data []byte) (string, error) {
	var packed bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&packed)
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	data, err := proto.Marshal(&lk.WrappedJoinRequest{Compression: lk.WrappedJoinRequest_GZIP, JoinRequest: packed.Bytes()})
	return base64.URLEncoding.EncodeToString(data), err
}
