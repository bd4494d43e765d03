// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/fault"
)

func TestParseDotenv(t *testing.T) {
	for _, tc := range []struct {
		reason string
		text   string
		want   map[string]string
	}{
		{"nothing", "", map[string]string{}},
		{"plain", "A=b", map[string]string{"A": "b"}},
		{"space around", "  A \t=  b c  \n", map[string]string{"A": "b c"}},
		{"an empty value does not take the next line", "A=\nB=c", map[string]string{"A": "", "B": "c"}},
		{"export", "export A=b", map[string]string{"A": "b"}},
		{"a colon", "A: b", map[string]string{"A": "b"}},
		{"all names", "A.b-C_1=d", map[string]string{"A.b-C_1": "d"}},
		{"the value has the rest of the signs", "A=b=c==", map[string]string{"A": "b=c=="}},
		{"comments", "# A=b\n  # c\nA=b # c\nB='c' # d\nC=\"d\"# e\nD=# f", map[string]string{"A": "b", "B": "c", "C": "d", "D": ""}},
		{"an empty value with a comment", "JWT_KEY= # a random value of 32 bytes\nJWT_SECRET=\t# another\nA=b",
			map[string]string{"JWT_KEY": "", "JWT_SECRET": "", "A": "b"}},
		{"a comment without space, and none in quotes", "A=b#c\nB='c # d'\nC=\"d#e\"\nD=#", map[string]string{"A": "b", "B": "c # d", "C": "d#e", "D": ""}},
		{"all quotes", "A='b'\nB=\"c\"\nC=`d`", map[string]string{"A": "b", "B": "c", "C": "d"}},
		{"quotes in other quotes", `A='b"c'` + "\n" + `B="c'd"`, map[string]string{"A": `b"c`, "B": "c'd"}},
		{"quotes that do not match", "A='b\nB='c'\nC=d'\nD=\"", map[string]string{"A": "'b", "B": "c", "C": "d'", "D": `"`}},
		{"only one pair is taken off", `A=''b''`, map[string]string{"A": `'b'`}},
		{"quotes in the middle", `A=b"c"d`, map[string]string{"A": `b"c"d`}},
		{"space in quotes stays", "A=' b '", map[string]string{"A": " b "}},
		{"double quotes around double quotes", `A="["b"]" # c`, map[string]string{"A": `["b"]`}},
		{"a dollar is a dollar", "A=b$C\nB=\"${A}\"", map[string]string{"A": "b$C", "B": "${A}"}},
		{"line breaks in double quotes only", `A="b\nc"` + "\n" + `B='b\nc'`, map[string]string{"A": "b\nc", "B": `b\nc`}},
		{"several lines in quotes", "A='b\n# c\nd'\nE=f", map[string]string{"A": "b\n# c\nd", "E": "f"}},
		{"an escaped quote does not end the value", `A="b\"c"`, map[string]string{"A": `b\"c`}},
		{"lines that set nothing", "just words\n=x\nA b=c\nD=e", map[string]string{"D": "e"}},
		{"the last counts", "A=b\nA=c", map[string]string{"A": "c"}},
		{"Windows", "\ufeffA=b\r\nB='c'\r\n", map[string]string{"A": "b", "B": "c"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ParseDotenv(tc.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func readTestdata(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kubectlEnvFile makes a Secret's data of an environment file as kubectl does: a line a variable, the value as it is.
func kubectlEnvFile(text string) map[string][]byte {
	data := map[string][]byte{}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(strings.TrimRight(strings.TrimLeft(line, " \t"), "\n"), "=")
		if found && !strings.HasPrefix(name, "#") {
			data[strings.TrimSpace(name)] = []byte(value)
		}
	}
	return data
}

func TestFromEnv(t *testing.T) {
	file := readTestdata(t, "service.env")
	whole := Settings{HasKeySecret: true, KeySecret: "9f3c$1a0e77b64be2=8d15", Disabled: []string{"token", "meetings"}, TokenKey: "meet_jwt_key"}
	one := func(name, value string) map[string][]byte { return map[string][]byte{name: []byte(value)} }
	for _, tc := range []struct {
		reason string
		data   map[string][]byte
		want   Settings
	}{
		{"--from-env-file=.env", kubectlEnvFile(file), whole},
		{"--from-file=.env", one(".env", file), whole},
		{"--from-file=production.env", one("production.env", file), whole},
		{"a key of its own wins over the file", map[string][]byte{".env": []byte(file), "API_KEY_SECRET": []byte("own")},
			Settings{HasKeySecret: true, KeySecret: "own", Disabled: []string{"token", "meetings"}, TokenKey: "meet_jwt_key"}},
		{"a key for tokens", one("JWT_KEY", "'k$1'"), Settings{TokenKey: "k$1"}},
		{"a protected host", one("HOST_PROTECTED", "true"), Settings{Logins: Logins{ToOpen: true}}},
		{"users have to log in", one("HOST_USER_AUTH", `"true"`), Settings{Logins: Logins{ToEnter: true}}},
		{"a word that is not known protects", one("HOST_PROTECTED", "TRUE # yes"), Settings{Logins: Logins{ToOpen: true}}},
		{"logins elsewhere", one("OIDC_ENABLED", "true"), Settings{Logins: Logins{ToOpen: true}}},
		{"listed addresses", one("IP_WHITELIST_ENABLED", "true"), Settings{AddressesOnly: true}},
		{"an open host", map[string][]byte{"HOST_PROTECTED": []byte("false"), "HOST_USER_AUTH": []byte("")}, Settings{}},
		{"who joins first presents", one("PRESENTER_JOIN_FIRST", "true # as ever"), Settings{}},
		{"who joins first presents, in nothing said", one("PRESENTER_JOIN_FIRST", ""), Settings{}},
		{"who joins first does not present", one("PRESENTER_JOIN_FIRST", "False"), Settings{OpenerParticipates: true}},
		{"nor by a word that is not known", one("PRESENTER_JOIN_FIRST", "never"), Settings{OpenerParticipates: true}},
		{"nothing", nil, Settings{}},
		{"a secret that is set to nothing", one("API_KEY_SECRET", ""), Settings{HasKeySecret: true}},
		{"a secret with a line's end", one("API_KEY_SECRET", "'abc'\n"), Settings{HasKeySecret: true, KeySecret: "abc"}},
		{"disabled is empty", one("API_DISABLED", ""), Settings{Disabled: []string{}}},
		{"disabled is empty quotes", one("API_DISABLED", "''"), Settings{Disabled: []string{}}},
		{"disabled is an empty array", one("API_DISABLED", "[]"), Settings{Disabled: []string{}}},
		{"disabled is null", one("API_DISABLED", "null"), Settings{Disabled: []string{}}},
		{"disabled without quotes around", one("API_DISABLED", `["token","meetings"]`), Settings{Disabled: []string{"token", "meetings"}}},
		{"disabled in double quotes", one("API_DISABLED", `"["token"]"`), Settings{Disabled: []string{"token"}}},
		{"disabled in double quotes, escaped", one("API_DISABLED", `"[\"token\"]"`), Settings{Disabled: []string{"token"}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := FromEnv(Environment(tc.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, value := range []string{"token,meetings", "token", `{"token":true}`, `["token"`, `[1]`, `["token"] x`, `"token"`, "true"} {
		_, err := FromEnv(Environment(one("API_DISABLED", value)))
		if !fault.Is(err, fault.KindInvalid) || !strings.Contains(err.Error(), "API_DISABLED") {
			t.Errorf("%s: %v, want Invalid that names API_DISABLED", value, err)
		}
	}
}

func TestEnvironmentLeavesOut(t *testing.T) {
	got := Environment(map[string][]byte{"config.js": []byte("x"), "A": []byte("'b'"), "B": []byte("c#d # e"), ".env": []byte("C=d#e")}, "config.js")
	if diff := cmp.Diff(map[string]string{"A": "b", "B": "c#d", "C": "d"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzFromEnv(f *testing.F) {
	f.Add(`API_DISABLED='["token"]'`)
	f.Add("API_KEY_SECRET=\"a\nb\" # c\nexport X: 'y")
	f.Add("A='\\")
	f.Add("\ufeff=\n'\"`")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := FromEnv(Environment(map[string][]byte{".env": []byte(text)}))
		if err != nil && !fault.Is(err, fault.KindInvalid) {
			t.Fatalf("%v is not Invalid", err)
		}
		if err == nil && !s.HasKeySecret && s.KeySecret != "" {
			t.Fatalf("a secret from nowhere: %+v", s)
		}
		// A value that needs no quotes reads the same whichever way it is written.
		if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$=+/.-_") == "" {
			for _, quote := range []string{"", "'", `"`, "`"} {
				if got := ParseDotenv("A=" + quote + text + quote + "\nB=c")["A"]; got != text {
					t.Fatalf("%q in %q reads %q", text, quote, got)
				}
			}
		}
	})
}
