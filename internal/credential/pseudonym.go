// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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

// markLength is how many bytes of a pseudonym a mark has: links are short, and nobody can try passwords or marks without the key.
const markLength = 12

// PasswordMark tells the password of the meetings of a lineage from every other one, by what is stored of the password, and tells nobody what
// it is. Links and sessions have it, and stand for that password alone, whoever changes it.
func (s *Signer) PasswordMark(lineage, stored string) string {
	return base64.RawURLEncoding.EncodeToString(s.Pseudonym("password\x00" + lineage + "\x00" + stored)[:markLength])
}
