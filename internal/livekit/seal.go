// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// sealer hides from other peers what we note in an attribute about a participant.
type sealer struct{ cipher.AEAD }

// note is what is sealed. Granted is nil where it is what the attribute says.
type note struct {
	OS       string `json:"os,omitempty"`
	Browser  string `json:"browser,omitempty"`
	Username string `json:"user,omitempty"`
	Granted  *bool  `json:"granted,omitempty"`
	// Since is in milliseconds.
	Since   int64  `json:"since,omitempty"`
	Message string `json:"message,omitempty"`
	In      bool   `json:"in,omitempty"`
	// Unseen gives each hidden participant a note: agents of the operator have none.
	Unseen bool `json:"unseen,omitempty"`
}

// noteOf is what other peers cannot read of a participant's traits.
func noteOf(t engine.Traits) note {
	n := note{OS: t.OS, Browser: t.Browser, Username: t.Username, Message: t.Message, In: t.In, Unseen: t.Hidden || t.Waits()}
	if t.Waits() {
		n.Since = t.Since.UnixMilli()
	}
	if t.Granted != t.Presenter {
		n.Granted = &t.Granted
	}
	return n
}

// addTo adds what is noted to the traits that attributes tell.
func (n note) addTo(t *engine.Traits) {
	t.OS, t.Browser, t.Username, t.Granted = n.OS, n.Browser, n.Username, t.Presenter
	if n.Granted != nil {
		t.Granted = *n.Granted
	}
	t.Since, t.Message, t.In = when(n.Since, 0), n.Message, n.In
}

// noteBlock is what lengths are rounded up to: the length alone would tell a browser, or a username, from another.
const noteBlock = 128

func newSealer(secret string) (sealer, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "convene.dev/device/v1", 32)
	if err != nil {
		return sealer{}, fault.As(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fault.As(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fault.As(err)
	}
	return sealer{aead}, nil
}

// seal returns nothing for nothing.
func (s sealer) seal(n note, room engine.RoomName, who engine.Identity) (string, error) {
	if n == (note{}) {
		return "", nil
	}
	plain, err := json.Marshal(n)
	if err != nil {
		return "", fault.As(err)
	}
	if rest := len(plain) % noteBlock; rest > 0 {
		plain = append(plain, bytes.Repeat([]byte(" "), noteBlock-rest)...)
	}
	return base64.RawStdEncoding.EncodeToString(s.Seal(nil, nil, plain, sealedFor(room, who))), nil
}

// open returns nothing for what was not sealed here for this participant: that of another, or under an earlier secret.
func (s sealer) open(sealed string, room engine.RoomName, who engine.Identity) note {
	box, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return note{}
	}
	plain, err := s.Open(nil, nil, box, sealedFor(room, who))
	if err != nil {
		return note{}
	}
	var n note
	if err := json.Unmarshal(plain, &n); err != nil {
		return note{}
	}
	return n
}

func sealedFor(room engine.RoomName, who engine.Identity) []byte {
	return []byte(string(room) + "\x00" + string(who))
}
