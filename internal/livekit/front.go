// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// frontClient follows no redirect: browsers' web sockets would not either. Browsers know nothing of a CABundle.
var frontClient = &http.Client{
	Transport: transports.For(""), Timeout: requestTimeout,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// FoundAt asks what browsers ask when they are refused. LiveKit refuses a request without a token, and accepts one with
// a token of Convene's. Another server at that address answers both alike.
func (c *client) FoundAt(ctx context.Context, at string) error {
	token, err := c.Grant(engine.Grant{Room: "convene-is-anybody-there", Identity: "convene", Lifetime: requestLifetime})
	if err != nil {
		return err
	}
	without, err := validate(ctx, at, "")
	if err != nil {
		return err
	}
	if without != http.StatusUnauthorized {
		return notLiveKitAtFront(fmt.Errorf("status %d", without))
	}
	with, err := validate(ctx, at, token)
	switch {
	case err != nil:
		return err
	case with == http.StatusUnauthorized:
		return fault.Unavailable("LiveKit at the browsers' address has another key").WithReason("Unauthorized")
	case with >= http.StatusInternalServerError:
		return outOfReach(fmt.Errorf("status %d", with))
	}
	return nil
}

// validate is the status with which an access token is answered. Errors do not have the token in them.
func validate(ctx context.Context, at, token string) (status int, err error) {
	u, err := url.Parse(at)
	if err != nil {
		return 0, err
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path = strings.TrimSuffix(u.Path, "/") + "/rtc/validate"
	if token != "" {
		u.RawQuery = url.Values{"access_token": {token}}.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, err
	}
	response, err := frontClient.Do(request)
	if err != nil {
		if sent := (*url.Error)(nil); errors.As(err, &sent) {
			err = sent.Err
		}
		return 0, outOfReach(err)
	}
	defer func() { _ = response.Body.Close() }()
	if asksForLogin(response) {
		return 0, notLiveKitAtFront(errAsksForLogin)
	}
	return response.StatusCode, nil
}

func notLiveKitAtFront(cause error) error {
	return fault.Unavailable("Something that is not LiveKit answers at the browsers' address").Because(cause)
}
