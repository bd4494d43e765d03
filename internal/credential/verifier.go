// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
)

var errUser = errors.New("credential: the user is unknown or has another password now")

// verifier returns the claim that ends a credential when its user's password changes or the user is removed: a keyed
// digest of the stored hash, from which neither the hash nor the password can be told. It is empty when the tenant has
// no users; an unknown user is an error.
func (k *signingKey) verifier(p purpose, users *Users, username string) (string, error) {
	if users == nil {
		return "", nil
	}
	fingerprint, ok := users.Fingerprint(username)
	if !ok {
		return "", errUser
	}
	// A signed credential begins with its base64 header, so this input cannot be one.
	mac := hmac.New(sha256.New, k.derived[p].key)
	mac.Write([]byte("convene/user/v1\x00"))
	mac.Write(fingerprint[:])
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16]), nil
}

// checkUser refuses a credential whose user is not who it was made for any more.
func (k *signingKey) checkUser(p purpose, users *Users, username string, e *envelope) error {
	want, err := k.verifier(p, users, username)
	// Without users there is nothing to compare: a claim from the time when there were some does no harm.
	if err == nil && users != nil && subtle.ConstantTimeCompare([]byte(want), []byte(e.Verifier)) != 1 {
		err = errUser
	}
	if err != nil {
		return p.refusal().Because(err)
	}
	return nil
}
