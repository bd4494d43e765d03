// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"crypto/rand"
	"strings"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// An identity is an origin and a number used once, both 16 letters: the origin is the same for all who come
// with one ticket or token, or as one user, and random for others. So the identity of a participant who was removed bars
// what that person came with, on every device, and nothing but identities has to be remembered.
const originLength = 16

// originOf is keyed with a secret that all replicas share: other peers see identities, and must not be able to tell a
// username by trying names. It stays the same when a meeting moves to another media server, and, because the tenant's name is in
// it and not its UID, after a restore.
func originOf(t *tenant.Tenant, kind, id string) string {
	pseudonym := t.Signer.Pseudonym(t.Issuer() + "\x00" + kind + "\x00" + id)
	return meeting.NameEncoding.EncodeToString(pseudonym)[:originLength]
}

func randomLetters() string { return strings.ToLower(rand.Text())[:originLength] }

func newIdentity(origin string) engine.Identity {
	return engine.Identity(origin + meeting.IdentitySeparator + randomLetters())
}
