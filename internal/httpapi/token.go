// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"time"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/httpserver"
)

// tokenBody is the answer of POST token.
type tokenBody struct {
	Token string `json:"token"`
}

// token is POST token.
func (a *api) token(q *httpserver.Request) (httpserver.Answer, error) {
	var asked tokenRequest
	if err := requests.Decode(q, &asked); err != nil {
		return nil, err
	}
	if err := asked.validate("", q.Tenant); err != nil {
		return nil, err
	}
	if err := a.login(q, asked); err != nil {
		return nil, err
	}
	signed, err := q.Tenant.Signer.IssueToken(credential.TokenRequest{
		Username: asked.Username, Presenter: asked.Presenter, Users: q.Tenant.Users,
		Lifetime: cmp.Or(time.Duration(asked.Expire), q.Tenant.TokenLifetime),
	}, a.clusterTime())
	if err != nil {
		return nil, err
	}
	return ok(tokenBody{signed}), nil
}
