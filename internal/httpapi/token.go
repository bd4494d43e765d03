// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/httpserver"
)

// tokenBody is the answer of POST token.
type tokenBody struct {
	Token string `json:"token"`
}

// token is POST token.
func (a *api) token(q *httpserver.Request) (httpserver.Answer, error) {
	f, err := readFields(q)
	if err != nil {
		return nil, err
	}
	asked := readToken(q.Tenant, f)
	if f.err != nil {
		return nil, f.err
	}
	if err := a.login(q, asked); err != nil {
		return nil, err
	}
	signed, err := q.Tenant.Signer.IssueToken(credential.TokenRequest{
		Username: asked.username, Presenter: asked.presenter, Lifetime: asked.lifetime, Users: q.Tenant.Users,
	}, a.clusterTime())
	if err != nil {
		return nil, err
	}
	return ok(tokenBody{signed}), nil
}
