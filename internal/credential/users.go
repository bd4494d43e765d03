// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
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
	// sorted by name. A map of names to hashes would take five times the text.
	sorted []user
	seed   maphash.Seed
}

// user is a line of the text, name:hash, and its number.
type user struct {
	line   []byte
	number int
}

func (u user) name() []byte {
	name, _, _ := bytes.Cut(u.line, []byte{':'})
	return name
}

func (u user) hash() []byte {
	_, hash, _ := bytes.Cut(u.line, []byte{':'})
	return hash
}

// maxUserProblems is how many lines that cannot be used are reported.
const maxUserProblems = 10

// ParseUsers reads htpasswd lines, `name:hash`, as `htpasswd -B` writes them. Blank lines and lines that begin with #
// are skipped; lines that cannot be used are left out, and ten of them are reported. The result is never nil: users that cannot
// be read let no user in. It keeps the text, which must not change afterwards.
func ParseUsers(text []byte) (*Users, []UserProblem) {
	u := &Users{seed: maphash.MakeSeed()}
	var problems []UserProblem
	report := func(number int, wrong string) {
		if len(problems) < maxUserProblems {
			problems = append(problems, UserProblem{Line: number, Message: wrong})
		}
	}
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		if wrong := wrongWith(line); wrong != "" {
			report(number, wrong)
			continue
		}
		u.sorted = append(u.sorted, user{line, number})
	}
	slices.SortFunc(u.sorted, func(a, b user) int { return cmp.Or(bytes.Compare(a.name(), b.name()), a.number-b.number) })
	u.sorted = slices.CompactFunc(u.sorted, func(a, b user) bool {
		again := bytes.Equal(a.name(), b.name())
		if again {
			report(max(a.number, b.number), "has a username that an earlier line has too: remove one of them, the earlier counts")
		}
		return again
	})
	slices.SortFunc(problems, func(a, b UserProblem) int { return a.Line - b.Line })
	return u, problems
}

// wrongWith is what is wrong with a line.
func wrongWith(line []byte) string {
	name, hash, found := bytes.Cut(line, []byte{':'})
	switch {
	case !found:
		return "has no colon between username and hash: write it with htpasswd -B"
	case len(name) == 0 || len(name) > MaxUsername || !utf8.Valid(name) || bytes.ContainsFunc(name, unicode.IsControl):
		return fmt.Sprintf("has a username that cannot be used: it must be 1 to %d bytes without control characters", MaxUsername)
	case !bcryptLine.Match(hash):
		return "has no bcrypt hash: write it with htpasswd -B"
	}
	if cost, err := bcrypt.Cost(hash); err != nil || cost > maxBcryptCost {
		return fmt.Sprintf("has a cost outside %d to %d: write it again with htpasswd -B -C 10", bcrypt.MinCost, maxBcryptCost)
	}
	return ""
}

// find is the hash of a user.
func (u *Users) find(username string) (hash []byte, known bool) {
	if u == nil {
		return nil, false
	}
	at, known := slices.BinarySearchFunc(u.sorted, username, func(u user, name string) int { return strings.Compare(string(u.name()), name) })
	if !known {
		return nil, false
	}
	return u.sorted[at].hash(), true
}

// Len is the number of users. Nil Users are none.
func (u *Users) Len() int {
	if u == nil {
		return 0
	}
	return len(u.sorted)
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
	hash, known := u.find(username)
	if !known {
		hash = u.standIn(username)
	}
	var wrong error
	err := withEffort(ctx, turn, 0, func() { wrong = bcrypt.CompareHashAndPassword(hash, []byte(password)) })
	return err == nil && wrong == nil && known, err
}

// standIn is the hash that an unknown user's password is compared with.
func (u *Users) standIn(username string) []byte {
	return u.sorted[maphash.String(u.seed, username)%uint64(len(u.sorted))].hash()
}

// Fingerprint is a digest of a user's stored hash, which changes with the password.
func (u *Users) Fingerprint(username string) (fingerprint [sha256.Size]byte, ok bool) {
	hash, ok := u.find(username)
	if !ok {
		return fingerprint, false
	}
	return sha256.Sum256([]byte("convene/user/v1\x00" + username + ":" + string(hash))), true
}
