// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"strings"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// joinClaims are join options in a ticket or a session.
type joinClaims struct {
	Name   string       `json:"n"`
	Avatar v1alpha1.URL `json:"a,omitempty"`
	// Options has the letter of each option that is on.
	Options string `json:"o,omitempty"`
}

func joinClaimsOf(o meeting.JoinOptions) joinClaims {
	c := joinClaims{Name: o.Name, Avatar: o.Avatar}
	for _, f := range o.Flags() {
		c.set(f.Letter, *f.Value)
	}
	return c
}

func (c joinClaims) options() meeting.JoinOptions {
	o := meeting.JoinOptions{Name: c.Name, Avatar: c.Avatar}
	for _, f := range o.Flags() {
		*f.Value = c.has(f.Letter)
	}
	return o
}

func (c *joinClaims) set(letter byte, on bool) {
	if on {
		c.Options += string(letter)
	}
}

func (c joinClaims) has(letter byte) bool { return strings.IndexByte(c.Options, letter) >= 0 }
