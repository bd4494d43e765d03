// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
)

const (
	// maxBcryptPassword is what bcrypt reads of a password, in bytes. Longer ones would match by their beginning.
	maxBcryptPassword = 72
	// maxBcryptCost takes a quarter of a second; a greater one is a way to stop the service.
	maxBcryptCost = 12
	// MaxUsername bounds a username, in bytes.
	MaxUsername = 255
)

// bcryptLine is a hash as `htpasswd -B` and other bcrypt tools write it, with two digits of cost.
var bcryptLine = regexp.MustCompile(`^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$`)

// UserProblem is what is wrong with one line of the users.
type UserProblem struct {
	// Line counts from one.
	Line    int
	Message string
}

// String says the problem and how to fix it, without the line's content.
func (p UserProblem) String() string { return fmt.Sprintf("line %d %s", p.Line, p.Message) }

// Users are a tenant's host users: usernames with bcrypt hashes. They are safe for concurrent use and never change.
type Users struct {
	hashes map[string][]byte
	// all has every hash once more, for the choice of one by number.
	all  [][]byte
	seed maphash.Seed
}

// ParseUsers reads htpasswd lines, `name:hash`, as `htpasswd -B` writes them. Blank lines and lines that begin with #
// are skipped; lines that cannot be used are left out and reported. The result is never nil: users that cannot be read
// let no user in.
func ParseUsers(text []byte) (*Users, []UserProblem) {
	u := &Users{hashes: map[string][]byte{}, seed: maphash.MakeSeed()}
	var problems []UserProblem
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if wrong := u.add(line); wrong != "" {
			problems = append(problems, UserProblem{Line: number, Message: wrong})
		}
	}
	return u, problems
}

// add reads one line, and returns what is wrong with it.
func (u *Users) add(line string) (wrong string) {
	name, hash, found := strings.Cut(line, ":")
	switch {
	case !found:
		return "has no colon between username and hash: write it with htpasswd -B"
	case name == "" || len(name) > MaxUsername || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Sprintf("has a username that cannot be used: it must be 1 to %d bytes without control characters", MaxUsername)
	case !bcryptLine.MatchString(hash):
		return "has no bcrypt hash: write it with htpasswd -B"
	case u.hashes[name] != nil:
		return "has a username that an earlier line has too: remove one of them, the earlier counts"
	}
	if cost, err := bcrypt.Cost([]byte(hash)); err != nil || cost > maxBcryptCost {
		return fmt.Sprintf("has a cost outside %d to %d: write it again with htpasswd -B -C 10", bcrypt.MinCost, maxBcryptCost)
	}
	u.hashes[name] = []byte(hash)
	u.all = append(u.all, []byte(hash))
	return ""
}

// Len is the number of users. Nil Users are none.
func (u *Users) Len() int {
	if u == nil {
		return 0
	}
	return len(u.all)
}

// CanBeRight reports whether a password can be that of any user. One that cannot is refused without any effort.
func (u *Users) CanBeRight(password string) bool {
	return u.Len() > 0 && password != "" && len(password) <= maxBcryptPassword
}

// Verify reports whether password is that user's. For an unknown user it takes as long as for a known one: it compares
// with the hash of another user and forgets the answer. Whose depends on the name alone, so that users of different costs do not
// give away who exists. Empty passwords, and those over 72 bytes, belong to no user. It waits as HashPassword does.
func (u *Users) Verify(ctx context.Context, turn Turn, username, password string) (bool, error) {
	if !u.CanBeRight(password) {
		return false, nil
	}
	hash, known := u.hashes[username]
	if !known {
		hash = u.standIn(username)
	}
	var wrong error
	err := withEffort(ctx, turn, 0, func() { wrong = bcrypt.CompareHashAndPassword(hash, []byte(password)) })
	return err == nil && wrong == nil && known, err
}

// standIn is the hash that an unknown user's password is compared with.
func (u *Users) standIn(username string) []byte {
	return u.all[maphash.String(u.seed, username)%uint64(len(u.all))]
}

// Fingerprint is a digest of a user's stored hash, which changes with the password.
func (u *Users) Fingerprint(username string) (fingerprint [sha256.Size]byte, ok bool) {
	if u == nil {
		return fingerprint, false
	}
	hash, ok := u.hashes[username]
	if !ok {
		return fingerprint, false
	}
	return sha256.Sum256([]byte("convene/user/v1\x00" + username + ":" + string(hash))), true
}
