// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"golang.org/x/crypto/argon2"

	"convene.dev/convene/internal/fault"
)

// MaxRoomPassword bounds a room password, in bytes.
const MaxRoomPassword = 1024

// roomParams are the second of the settings that OWASP's password storage cheat sheet calls equal: 19 MiB, two
// passes. A join with a password costs about 20 ms of one processor with it.
var roomParams = argon2Params{memory: 19 << 10, time: 2, threads: 1}

// HashPassword returns the form in which a room password is stored: Argon2id (RFC 9106) as a PHC string. An empty
// password, and one over 1,024 bytes, is Invalid. It waits for its turn, and is ErrBusy if the context ends before.
func HashPassword(ctx context.Context, turn Turn, plain string) (_ string, err error) {
	if plain == "" || len(plain) > MaxRoomPassword {
		return "", fault.Invalid("roomPassword", "roomPassword must be 1 to %d bytes long", MaxRoomPassword)
	}
	h := argon2Hash{argon2Params: roomParams, salt: make([]byte, 16), sum: make([]byte, 32)}
	_, _ = rand.Read(h.salt) // It never fails: crypto/rand ends the program first.
	if h.sum, err = h.compute(ctx, turn, plain); err != nil {
		return "", err
	}
	return h.String(), nil
}

// CheckPassword reports whether presented is the room's password. Stored is what HashPassword returned, or the plain
// password of a Secret made by hand, with or without a line's end. An empty one of either is never right. It waits as HashPassword does.
// A stored hash that cannot be checked, or that takes too much, is an error.
func CheckPassword(ctx context.Context, turn Turn, stored, presented string) (bool, error) {
	stored = strings.TrimRight(stored, "\r\n")
	if stored == "" || !CanBeRoomPassword(presented) {
		return false, nil
	}
	// Reading a hash must not open the room.
	if !IsPasswordHash(stored) {
		a, b := sha256.Sum256([]byte(stored)), sha256.Sum256([]byte(presented))
		return subtle.ConstantTimeCompare(a[:], b[:]) == 1, nil
	}
	h, err := parseArgon2(stored)
	if err != nil {
		return false, fault.Unavailable("The password of this meeting cannot be checked; tell the operator").Because(err)
	}
	sum, err := h.compute(ctx, turn, presented)
	return err == nil && subtle.ConstantTimeCompare(sum, h.sum) == 1, err
}

// CanBeRoomPassword reports whether a text can be a room's password. One that cannot is refused without any effort.
func CanBeRoomPassword(presented string) bool {
	return presented != "" && len(presented) <= MaxRoomPassword
}

// IsPasswordHash reports whether a stored room password is a hash, or looks like one: it is never taken for a plain password.
func IsPasswordHash(stored string) bool { return strings.HasPrefix(stored, argon2Prefix) }

func (h argon2Hash) compute(ctx context.Context, turn Turn, password string) (sum []byte, err error) {
	err = withEffort(ctx, turn, int(h.memory), func() {
		sum = argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(len(h.sum)))
	})
	return sum, err
}
