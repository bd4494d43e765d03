// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/hmac"
	"crypto/sha256"
)

// Pseudonym stands for a name that others must not find by trying names. It is the same on every replica, and stays the same
// when signing keys are added and removed. A nil Signer gives none.
func (s *Signer) Pseudonym(of string) []byte {
	if s == nil {
		return make([]byte, sha256.Size)
	}
	mac := hmac.New(sha256.New, s.pseudonym)
	_, _ = mac.Write([]byte(of)) // A hash never fails.
	return mac.Sum(nil)
}
