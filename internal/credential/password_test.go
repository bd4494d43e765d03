// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"fmt"
	"strings"
	"testing"

	"convene.dev/convene/internal/fault"
)

// referenceHash is a test vector of the reference implementation of Argon2, for "password".
const referenceHash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"

func TestHashPassword(t *testing.T) {
	a, err := HashPassword(t.Context(), Turn{}, "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	b, err := HashPassword(t.Context(), Turn{}, "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	if a == b || strings.Contains(a, "sesame") {
		t.Errorf("hashes %q and %q: want two salts and no password", a, b)
	}
	if !isRight(t, a, "open sesame") || isRight(t, a, "open sesam") {
		t.Error("the hash does not tell the password from another one")
	}
	for _, plain := range []string{"", strings.Repeat("x", MaxRoomPassword+1)} {
		if _, err := HashPassword(t.Context(), Turn{}, plain); !fault.Is(err, fault.KindInvalid) || fault.As(err).Field != "roomPassword" {
			t.Errorf("a password of %d bytes: %v, want Invalid for roomPassword", len(plain), err)
		}
	}
}

func isRight(t testing.TB, stored, presented string) bool {
	t.Helper()
	right, err := CheckPassword(t.Context(), Turn{}, stored, presented)
	if err != nil {
		t.Error(err)
	}
	return right
}

func TestCheckPassword(t *testing.T) {
	for _, tc := range []struct {
		reason            string
		stored, presented string
		want              bool
	}{
		{"a hash of the reference implementation", referenceHash, "password", true},
		{"the same with a line's end", referenceHash + "\n", "password", true},
		{"a wrong password", referenceHash, "Password", false},
		{"plain, from a Secret made by hand", "open sesame", "open sesame", true},
		{"plain, from a file", "open sesame\r\n", "open sesame", true},
		{"plain, space counts", " open sesame", "open sesame", false},
		{"plain and wrong", "open sesame", "open sesamf", false},
		{"plain and longer", "open sesame", "open sesame!", false},
		{"nothing stored, nothing presented", "", "", false},
		{"an empty line stored", "\n", "", false},
		{"nothing stored", "", "x", false},
		{"nothing presented", referenceHash, "", false},
		{"the hash is no password", referenceHash, referenceHash, false},
		{"too long to look at", referenceHash, strings.Repeat("x", MaxRoomPassword+1), false},
	} {
		if got := isRight(t, tc.stored, tc.presented); got != tc.want {
			t.Errorf("%s: CheckPassword = %v", tc.reason, got)
		}
	}
}

// TestAHashThatCannotBeChecked opens nothing, is no plain password, and says how to correct the Secret.
func TestAHashThatCannotBeChecked(t *testing.T) {
	for _, stored := range []string{argon2Prefix + "v=19$broken", argon2Prefix + "v=19$m=262144,t=10,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"} {
		right, err := CheckPassword(t.Context(), Turn{}, stored, stored)
		if right || !fault.Is(err, fault.KindUnavailable) || !strings.Contains(err.Error(), "put the password itself into the Secret") {
			t.Errorf("%s: %t, %v", stored, right, err)
		}
	}
}

func TestParseArgon2Bounds(t *testing.T) {
	const salt, sum = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	phc := func(version, params, salt, sum string) string {
		return argon2Prefix + version + "$" + params + "$" + salt + "$" + sum
	}
	for _, tc := range []struct {
		reason string
		stored string
		want   bool
	}{
		{"the greatest that is allowed", phc("v=19", "m=65536,t=3,p=16", salt, sum), true},
		{"what RFC 9106 has for little memory", phc("v=19", "m=65536,t=3,p=4", salt, sum), true},
		{"OWASP's with the most memory", phc("v=19", "m=47104,t=1,p=1", salt, sum), true},
		{"many passes over little memory", phc("v=19", "m=7168,t=10,p=1", salt, sum), true},
		{"a pass too many", phc("v=19", "m=65536,t=4,p=1", salt, sum), false},
		{"the least that is allowed", phc("v=19", "m=8,t=1,p=1", salt, sum), true},
		{"too much memory", phc("v=19", "m=65537,t=1,p=1", salt, sum), false},
		{"memory beyond 32 bits", phc("v=19", "m=4294967304,t=1,p=1", salt, sum), false},
		{"too many passes", phc("v=19", "m=8,t=11,p=1", salt, sum), false},
		{"too many lanes", phc("v=19", "m=65536,t=1,p=17", salt, sum), false},
		{"lanes that wrap to a byte", phc("v=19", "m=65536,t=1,p=257", salt, sum), false},
		{"less memory than its lanes need", phc("v=19", "m=15,t=1,p=2", salt, sum), false},
		{"no passes", phc("v=19", "m=8,t=0,p=1", salt, sum), false},
		{"no lanes", phc("v=19", "m=8,t=1,p=0", salt, sum), false},
		{"a sign", phc("v=19", "m=+8,t=1,p=1", salt, sum), false},
		{"another order", phc("v=19", "t=1,m=8,p=1", salt, sum), false},
		{"a parameter more", phc("v=19", "m=8,t=1,p=1,keyid=x", salt, sum), false},
		{"a parameter less", phc("v=19", "m=8,t=1", salt, sum), false},
		{"another version", phc("v=16", "m=8,t=1,p=1", salt, sum), false},
		{"a short salt", phc("v=19", "m=8,t=1,p=1", "c29tZXM", sum), false},
		{"no salt", phc("v=19", "m=8,t=1,p=1", "", sum), false},
		{"a short sum", phc("v=19", "m=8,t=1,p=1", salt, "CTFhFdXPJO0"), false},
		{"no sum", phc("v=19", "m=8,t=1,p=1", salt, ""), false},
		{"padding", phc("v=19", "m=8,t=1,p=1", salt+"=", sum), false},
		{"a part more", phc("v=19", "m=8,t=1,p=1", salt, sum+"$x"), false},
		{"longer than any", phc("v=19", "m=8,t=1,p=1", strings.Repeat("A", 200), sum), false},
		{"Argon2i", strings.Replace(referenceHash, "argon2id", "argon2i", 1), false},
		{"plain", "open sesame", false},
	} {
		if _, err := parseArgon2(tc.stored); (err == nil) != tc.want {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
}

func FuzzParseArgon2(f *testing.F) {
	for _, s := range []string{referenceHash, argon2Prefix, argon2Prefix + "v=19$m=8,t=1,p=1$$", "", "$argon2id$v=19$m=99999999999,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parseArgon2(s)
		if err != nil {
			return
		}
		if h.memory > maxArgon2Memory || h.memory*h.time > maxArgon2Work || h.time > maxArgon2Time || h.threads > maxArgon2Threads || h.threads == 0 || h.time == 0 {
			t.Fatalf("%q gave %+v", s, h.argon2Params)
		}
		again, err := parseArgon2(h.String())
		if err != nil || fmt.Sprint(again) != fmt.Sprint(h) {
			t.Fatalf("%q is written %q, which reads %v, %v", s, h, again, err)
		}
	})
}

func BenchmarkCheckPassword(b *testing.B) {
	stored, err := HashPassword(b.Context(), Turn{}, "open sesame")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !isRight(b, stored, "open sesame") {
			b.Fatal("refused")
		}
	}
}
