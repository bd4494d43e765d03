// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"convene.dev/convene/internal/fault"
)

// ChatMessage is a message of a meeting's chat, as the gateway took it from its author.
type ChatMessage struct {
	// Meeting is the UID of the Meeting.
	Meeting        string
	ID, From, Name string
	Text           string
	// At counts in milliseconds.
	At time.Time
}

// ChatRequest is the request of one participant to another for the messages of a meeting's chat.
type ChatRequest struct {
	// Meeting is the UID of the Meeting, For is who asks, and From who is asked.
	Meeting, For, From string
	// Until counts in milliseconds.
	Until time.Time
}

// stampSize is the length of a stamp in bytes: 128 bits of a MAC are more than can be guessed.
const stampSize = 16

func (m ChatMessage) stamp(key *signingKey) []byte {
	return key.stampOf("message", m.Meeting, m.ID, m.From, m.Name, m.Text, m.At)
}

func (r ChatRequest) stamp(key *signingKey) []byte {
	return key.stampOf("request", r.Meeting, r.For, r.From, "", "", r.Until)
}

// StampMessage proves later, on every replica, that a message was taken as it is. Nothing has to be stored for it.
func (s *Signer) StampMessage(m ChatMessage, now time.Time) (string, error) { return s.stamp(m, now) }

// VerifyMessage reports whether the stamp is of this message.
func (s *Signer) VerifyMessage(m ChatMessage, stamp string) bool { return s.verifyStamp(m, stamp) }

// StampRequest proves later that a request went through a gateway.
func (s *Signer) StampRequest(r ChatRequest, now time.Time) (string, error) { return s.stamp(r, now) }

// VerifyRequest is Denied unless the stamp is of this request and its time is not over.
func (s *Signer) VerifyRequest(r ChatRequest, stamp string, now time.Time) error {
	if !now.Before(r.Until) || !s.verifyStamp(r, stamp) {
		return fault.Denied("This request for earlier messages has expired; answer the next one")
	}
	return nil
}

// stamped is what a stamp is made of.
type stamped interface{ stamp(*signingKey) []byte }

func (s *Signer) stamp(what stamped, now time.Time) (string, error) {
	key, err := s.current(now)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(what.stamp(key)), nil
}

// verifyStamp tries every key. There are few, and a stamp names none: it is kept with each message.
func (s *Signer) verifyStamp(what stamped, stamp string) bool {
	if s == nil || len(stamp) != base64.RawURLEncoding.EncodedLen(stampSize) {
		return false
	}
	shown, err := base64.RawURLEncoding.Strict().DecodeString(stamp)
	if err != nil {
		return false
	}
	for _, key := range s.keys {
		if hmac.Equal(shown, what.stamp(key)) {
			return true
		}
	}
	return false
}

// stampOf writes the length before each field, so that no two different lists of fields are the same bytes.
func (k *signingKey) stampOf(kind, meeting, a, b, c, d string, at time.Time) []byte {
	mac := hmac.New(sha256.New, k.chat)
	for _, field := range []string{kind, meeting, a, b, c, d} {
		_, _ = mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(field)))) // A hash never fails.
		_, _ = mac.Write([]byte(field))
	}
	_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli())))
	return mac.Sum(nil)[:stampSize]
}
