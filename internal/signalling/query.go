// SPDX-License-Identifier: Apache-2.0

package signalling

import "net/url"

const (
	// TokenParameter is the query parameter with the access token.
	TokenParameter = "access_token"
	// reconnectParameter is there where a browser resumes a connection.
	reconnectParameter = "reconnect"
)

// parameters are the query parameters that livekit-client sends. LiveKit knows more: publish makes the connection another identity,
// attributes become the participant's, and join_request holds a whole message.
var parameters = []string{
	TokenParameter, "auto_subscribe", reconnectParameter, "reconnect_reason", "sid", "sdk", "version", "protocol", "client_protocol",
	"device_model", "os", "os_version", "browser", "browser_version", "adaptive_stream", "disable_ice_lite", "subscriber_allow_pause", "network",
}

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
	return query, query.Has(reconnectParameter), nil
}
