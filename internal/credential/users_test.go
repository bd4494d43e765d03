// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

const (
	// adaLine is for "correct horse", adaOtherLine for "battery staple".
	adaLine      = "ada:$2a$05$nY4Lm7VNo9Hxol/4yhDZ7uMbOYCIv0onlwfYrpmurHPAbnmR34fJ2"
	adaOtherLine = "ada:$2a$05$N/yerIcnEMO9ubu8/rjM0uMh18pSuqApRXVtmMiQbc8QT17UuNO/S"
	// openwallLine has a test vector of crypt_blowfish, which htpasswd is built on, for "U*U".
	openwallLine = "solar:$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
)

func TestParseUsers(t *testing.T) {
	hash := strings.TrimPrefix(adaLine, "ada:")
	for _, tc := range []struct {
		reason string
		text   string
		users  int
		wrong  []int
	}{
		{reason: "nothing is nobody"},
		{reason: "one line without an end", text: adaLine, users: 1},
		{reason: "comments, blank lines, Windows line ends and a byte order mark", text: "\xef\xbb\xbf# staff\r\n\r\n" + adaLine + "\r\n  \t\r\n" + openwallLine + "\r\n", users: 2},
		{reason: "all three prefixes", text: adaLine + "\n" + openwallLine + "\nbob:$2b$" + hash[4:], users: 3},
		{reason: "names with letters of any script, spaces and dots", text: "Ада Lovelace:" + hash + "\na.b@example.org:" + hash, users: 2},
		{reason: "other hashes", text: "a:$apr1$x$y\nb:{SHA}fEqNCco3Yq9h5ZUglD3CZJT4lBs=\nc:plain\nd:", wrong: []int{1, 2, 3, 4}},
		{reason: "no colon", text: "ada", wrong: []int{1}},
		{reason: "no name", text: ":" + hash, wrong: []int{1}},
		{reason: "a control character in the name", text: "a\x00b:" + hash, wrong: []int{1}},
		{reason: "a name that is too long", text: strings.Repeat("x", 256) + ":" + hash, wrong: []int{1}},
		{reason: "a hash that was cut", text: adaLine[:len(adaLine)-1], wrong: []int{1}},
		{reason: "something behind the hash", text: adaLine + ":more", wrong: []int{1}},
		{reason: "a cost that would stop the service", text: strings.Replace(adaLine, "$05$", "$31$", 1), wrong: []int{1}},
		{reason: "a cost that bcrypt does not know", text: strings.Replace(adaLine, "$05$", "$03$", 1), wrong: []int{1}},
		{reason: "a doubled name", text: adaLine + "\n" + adaOtherLine, users: 1, wrong: []int{2}},
		{reason: "a bad line leaves the others working", text: "junk\n" + adaLine, users: 1, wrong: []int{1}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			users, problems := ParseUsers([]byte(tc.text))
			if users.Len() != tc.users {
				t.Errorf("%d users, want %d", users.Len(), tc.users)
			}
			var wrong []int
			for _, p := range problems {
				wrong = append(wrong, p.Line)
				if strings.Contains(p.String(), "$") || !strings.Contains(p.String(), ": ") {
					t.Errorf("%q tells the hash, or no fix", p)
				}
			}
			if diff := cmp.Diff(tc.wrong, wrong); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUsersTakeLittleMemory: what is kept of the largest Secret is not a multiple of it, be its lines good or bad.
func TestUsersTakeLittleMemory(t *testing.T) {
	hash := strings.TrimPrefix(adaLine, "ada:")
	var good strings.Builder
	for i := 0; good.Len() < 1<<20; i++ {
		fmt.Fprintf(&good, "%x:%s\n", i, hash)
	}
	for name, text := range map[string]string{"users": good.String(), "junk": strings.Repeat(":\n", 1<<19)} {
		users, problems := ParseUsers([]byte(text))
		if size := cap(users.sorted) * int(unsafe.Sizeof(user{})); size > len(text) || len(problems) > maxUserProblems {
			t.Errorf("%s: %d bytes beside the text and %d problems", name, size, len(problems))
		}
	}
}

func TestVerifyUser(t *testing.T) {
	users, _ := ParseUsers([]byte(adaLine + "\n" + openwallLine + "\n" + adaOtherLine))
	var none *Users
	empty, _ := ParseUsers(nil)
	for _, tc := range []struct {
		reason             string
		users              *Users
		username, password string
		want               bool
	}{
		{"the right password", users, "ada", "correct horse", true},
		{"a hash that another implementation made", users, "solar", "U*U", true},
		{"a wrong password", users, "ada", "correct horse ", false},
		{"another user's password", users, "solar", "correct horse", false},
		{"the first of a doubled name counts", users, "ada", "battery staple", false},
		{"names have case", users, "Ada", "correct horse", false},
		{"an unknown user with the password of another", users, "eve", "correct horse", false},
		{"an unknown user with the other's password", users, "eve", "U*U", false},
		{"no name", users, "", "correct horse", false},
		{"no password", users, "ada", "", false},
		{"a password of which bcrypt would read the beginning only", users, "ada", "correct horse" + strings.Repeat("\x00", 60), false},
		{"nobody", empty, "ada", "correct horse", false},
		{"nil users", none, "ada", "correct horse", false},
	} {
		if got, err := tc.users.Verify(t.Context(), Turn{}, tc.username, tc.password); got != tc.want || err != nil {
			t.Errorf("%s: Verify = %v, %v", tc.reason, got, err)
		}
	}
}

// An unknown user must cost the same kind of work as a known one: of the hashes that stand in for him every one is
// taken for some name, and always the same one for one name.
func TestUnknownUsersAreSpreadOverAllHashes(t *testing.T) {
	users, _ := ParseUsers([]byte(adaLine + "\n" + openwallLine))
	taken := map[string]bool{}
	for i := range 200 {
		name := fmt.Sprintf("nobody-%d", i)
		hash := string(users.standIn(name))
		if hash != string(users.standIn(name)) {
			t.Fatalf("%s got two hashes", name)
		}
		taken[hash] = true
	}
	if len(taken) != 2 {
		t.Errorf("%d of 2 hashes stand in for unknown users", len(taken))
	}
}

func TestUserFingerprint(t *testing.T) {
	users, _ := ParseUsers([]byte(adaLine))
	changed, _ := ParseUsers([]byte(adaOtherLine))
	renamed, _ := ParseUsers([]byte(strings.Replace(adaLine, "ada", "eve", 1)))
	ada, ok := users.Fingerprint("ada")
	if again, _ := users.Fingerprint("ada"); !ok || again != ada {
		t.Error("the fingerprint of one user changes")
	}
	if other, _ := changed.Fingerprint("ada"); other == ada {
		t.Error("another password has the same fingerprint")
	}
	if other, _ := renamed.Fingerprint("eve"); other == ada {
		t.Error("another user with the same hash has the same fingerprint")
	}
	if _, ok := users.Fingerprint("eve"); ok {
		t.Error("an unknown user has a fingerprint")
	}
	if _, ok := (*Users)(nil).Fingerprint("ada"); ok {
		t.Error("nil users have a fingerprint")
	}
}

func FuzzParseUsers(f *testing.F) {
	for _, s := range []string{adaLine, openwallLine + "\n" + adaLine, "# x\n\n:", "a:$2y$99$", "\xef\xbb\xbf", "a\x00:b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		users, problems := ParseUsers(text)
		lines := strings.Count(string(text), "\n") + 1
		if users.Len()+len(problems) > lines {
			t.Fatalf("%d users and %d problems in %d lines", users.Len(), len(problems), lines)
		}
		if right, _ := users.Verify(t.Context(), Turn{}, "", "x"); right {
			t.Fatal("nobody's password is right")
		}
	})
}
