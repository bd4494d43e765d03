// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
)

// Compat is what the tenant has otherwise for clients of other services of this API.
type Compat struct {
	// ChatOffClosesPanel says that chat: false leaves the user their chat.
	ChatOffClosesPanel bool
	// MeetingsByRoom reports whether GET meetings answers in the form of MiroTalk P2P.
	MeetingsByRoom bool
}

func (r *resolver) compat() {
	spec := ptr.Deref(r.config.Spec.Compat, v1alpha1.CompatSpec{})
	chatOff, opener := v1alpha1.ChatOffDisables, v1alpha1.RoleParticipant
	if r.config.Spec.Source != nil {
		chatOff = v1alpha1.ChatOffClosesPanel
	}
	if r.source != nil && !r.source.OpenerParticipates {
		opener = v1alpha1.RolePresenter
	}
	r.Compat = Compat{
		ChatOffClosesPanel: cmp.Or(spec.ChatOff, chatOff) == v1alpha1.ChatOffClosesPanel,
		MeetingsByRoom:     spec.Meetings == v1alpha1.MeetingsByRoom,
	}
	r.Settings.OpenerLeads = cmp.Or(spec.Opener, opener) == v1alpha1.RolePresenter
	if key, place, ok := r.tokenKey(); ok {
		r.useTokenKey(key, place)
	}
}

// tokenKey is the secret of tokens that integrations sign themselves, and where it is from.
func (r *resolver) tokenKey() (key, place string, ok bool) {
	if tokens := r.config.Spec.Tokens; tokens != nil && tokens.Legacy != nil {
		ref := tokens.Legacy.KeySecretRef
		before := len(r.Problems)
		value, found := r.secretKey(v1alpha1.ConditionLegacyKeyRefused, ref)
		for i := before; i < len(r.Problems); i++ {
			r.Problems[i].WhenTrue, r.Problems[i].Fatal = true, false
		}
		return strings.TrimSpace(string(value)), fmt.Sprintf("Secret %q, key %q", ref.Name, ref.Key), found
	}
	if r.source != nil && r.source.TokenKey != "" {
		return strings.TrimSpace(r.source.TokenKey), "spec.source", true
	}
	return "", "", false
}

// useTokenKey refuses keys that others know or can find out.
func (r *resolver) useTokenKey(key, place string) {
	refuse := func(reason, says string) {
		r.problem(v1alpha1.ConditionLegacyKeyRefused, reason, true, false, "%s: the key of tokens that integrations sign %s", place, says)
	}
	switch {
	case key == "":
		refuse(v1alpha1.ReasonKeyEmpty, "is empty: put the integrations' key into it")
	case credential.IsPublished(key):
		refuse(v1alpha1.ReasonKeyPublished, "is a published sample value, with which anybody can make tokens: give the integrations and this service a random value of their own")
	case len(key) < compat.MinTokenKey:
		refuse(v1alpha1.ReasonKeyTooShort, fmt.Sprintf(
			"is shorter than %d characters and can be found out from a token: give the integrations and this service a longer random value", compat.MinTokenKey))
	default:
		r.LegacyTokens = compat.NewTokenKey(key)
	}
}

// ShownToken is what a token says, in whichever form that the tenant accepts.
type ShownToken struct {
	credential.TokenGrant
	// Unchecked says that the integration signed the token itself: Password has to be checked where the host has users.
	Unchecked bool
	Password  string
}

var errTokenEarly = fault.Denied("The token is not good yet: it begins later, or the clock of the service that signed it is ahead; set that clock")

// OpenToken checks a token: one that POST token made, or one that an integration signed where the tenant accepts those. Every
// refusal is Denied with the same message, but for a token of an integration whose clock is ahead.
func (t *Tenant) OpenToken(signed string, now time.Time) (ShownToken, error) {
	grant, err := t.Signer.VerifyToken(signed, t.Users, now)
	if t.LegacyTokens == nil || !fault.Is(err, fault.KindDenied) {
		return ShownToken{TokenGrant: grant}, err
	}
	legacy, legacyErr := t.LegacyTokens.Open(signed, compat.Lifetimes{Default: t.TokenLifetime, Greatest: t.MaxTokenLifetime}, now)
	switch {
	case errors.Is(legacyErr, compat.ErrTokenEarly):
		return ShownToken{}, errTokenEarly
	case legacyErr != nil:
		return ShownToken{}, err
	}
	return ShownToken{
		TokenGrant: credential.TokenGrant{ID: legacy.ID, Username: legacy.Username, Presenter: legacy.Presenter, Expires: legacy.Expires},
		Unchecked:  true, Password: legacy.Password,
	}, nil
}
