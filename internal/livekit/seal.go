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

// sealer hides from other peers what we note in an attribute about a participant's device.
type sealer struct{ cipher.AEAD }

type device struct {
	OS      string `json:"os,omitempty"`
	Browser string `json:"browser,omitempty"`
}

// deviceBlock is what lengths are rounded up to: the length alone would tell a browser from another.
const deviceBlock = 128

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
func (s sealer) seal(os, browser string, room engine.RoomName, who engine.Identity) (string, error) {
	if os == "" && browser == "" {
		return "", nil
	}
	plain, err := json.Marshal(device{OS: os, Browser: browser})
	if err != nil {
		return "", fault.As(err)
	}
	if rest := len(plain) % deviceBlock; rest > 0 {
		plain = append(plain, bytes.Repeat([]byte(" "), deviceBlock-rest)...)
	}
	return base64.RawStdEncoding.EncodeToString(s.Seal(nil, nil, plain, sealedFor(room, who))), nil
}

// open returns nothing for what was not sealed here for this participant: that of another, or under an earlier secret.
func (s sealer) open(sealed string, room engine.RoomName, who engine.Identity) (os, browser string) {
	box, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return "", ""
	}
	plain, err := s.Open(nil, nil, box, sealedFor(room, who))
	if err != nil {
		return "", ""
	}
	var d device
	if err := json.Unmarshal(plain, &d); err != nil {
		return "", ""
	}
	return d.OS, d.Browser
}

func sealedFor(room engine.RoomName, who engine.Identity) []byte {
	return []byte(string(room) + "\x00" + string(who))
}
