// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// SigningKeySize is the least number of random bytes in a signing key.
const SigningKeySize = 32

// PseudonymKey is the entry of a Secret of signing keys that signs nothing and verifies nothing: pseudonyms are made with it, so that
// they outlast each signing key. The name is less than the id of any signing key: builds that do not know this entry make pseudonyms
// with it as well, and sign with another.
const PseudonymKey = "0-pseudonym"

// idTime is the time in the ids of signing keys; its order by letters is the order in time.
const idTime = "20060102t150405z"

// settling is how long after the time in its id a key begins to sign: until then every replica has come to know it, so
// that none refuses what another has signed.
const settling = time.Minute

// SigningKeyProblem is why signing keys are not used.
type SigningKeyProblem struct {
	// ID is that of the key, or of the greatest of several.
	ID string
	// Others is how many more there are.
	Others int
	// TooMany says that there are enough keys with greater ids. Otherwise these are too short.
	TooMany bool
}

// String says the problem and how to fix it, without the key.
func (p SigningKeyProblem) String() string {
	which := fmt.Sprintf("signing key %q", p.ID)
	if p.Others > 0 {
		which = fmt.Sprintf("%s and %d more", which, p.Others)
	}
	if p.TooMany {
		return fmt.Sprintf("%s: not used beside %d keys with greater names; remove those whose tokens have expired", which, MaxSigningKeys)
	}
	return fmt.Sprintf("%s: shorter than %d bytes, and not used; replace it by %d random bytes or more", which, SigningKeySize, SigningKeySize)
}

// NewSigningKeys is the data of a new Secret of signing keys.
func NewSigningKeys(now time.Time) map[string][]byte {
	id, key := NewSigningKey(now)
	return map[string][]byte{id: key, PseudonymKey: randomBytes(SigningKeySize)}
}

func randomBytes(count int) []byte {
	random := make([]byte, count)
	_, _ = rand.Read(random) // It never fails: crypto/rand ends the program first.
	return random
}

// NewSigningKey returns a new key and its id. Ids made later are greater. Beside an older key it signs from a minute
// after now on, alone at once.
func NewSigningKey(now time.Time) (id string, key []byte) {
	random := randomBytes(SigningKeySize + 2)
	return now.UTC().Format(idTime) + "-" + hex.EncodeToString(random[SigningKeySize:]), random[:SigningKeySize]
}

// signingKey is one master key with what is derived from it.
type signingKey struct {
	id string
	// activeFrom is when it begins to sign, in Unix seconds; zero for ids made by hand.
	activeFrom int64
	derived    [purposes]derivedKey
	// chat is for what pages pass on to each other: see ChatMessage and ChatRequest.
	chat []byte
}

// derivedKey serves one purpose: a leak of what one purpose's key signs says nothing about another's.
type derivedKey struct {
	key []byte
	// header is the encoded JOSE header with the dot behind it, made once.
	header string
}

func newSigningKey(id string, master []byte) *signingKey {
	k := &signingKey{id: id, activeFrom: activationOf(id), chat: derive(master, "chat")}
	for p := range purposes {
		k.derived[p] = derivedKey{key: derive(master, p.String()), header: joseHeader(id)}
	}
	return k
}

// derive is HKDF-SHA256 (RFC 5869). It fails only for outputs longer than ours.
func derive(master []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, master, nil, "convene/"+purpose+"/v1", sha256.Size)
	if err != nil {
		panic("credential: " + err.Error())
	}
	return key
}

func joseHeader(id string) string {
	header, err := json.Marshal(struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
		Type      string `json:"typ"`
	}{jwt.SigningMethodHS256.Alg(), id, "JWT"})
	if err != nil {
		panic("credential: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(header) + "."
}

func activationOf(id string) int64 {
	if len(id) < len(idTime) {
		return 0
	}
	from, err := time.Parse(idTime, id[:len(idTime)])
	if err != nil {
		return 0
	}
	return from.Add(settling).Unix()
}
