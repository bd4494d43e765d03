// SPDX-License-Identifier: Apache-2.0

package httpapi

import "convene.dev/convene/internal/credential"

// token is POST token.
func (c *call) token() (answer, error) {
	body, err := c.object()
	if err != nil {
		return nil, err
	}
	f := &fields{object: body}
	asked := c.tokenRequest(f)
	if f.err != nil {
		return nil, f.err
	}
	if err := c.login(asked); err != nil {
		return nil, err
	}
	signed, err := c.tenant.Signer.IssueToken(credential.TokenRequest{
		Username: asked.username, Presenter: asked.presenter, Lifetime: asked.lifetime, Users: c.tenant.Users,
	}, c.clusterTime())
	if err != nil {
		return nil, err
	}
	return single{name: "token", value: signed}, nil
}
