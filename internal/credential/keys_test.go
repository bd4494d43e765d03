// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const strongKey = "4d1f0c7be2a94b0f8e6a"

func TestNewKeyRing(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		values   []string
		accepts  []string
		refuses  []string
		problems []KeyProblem
	}{
		{reason: "no key opens nothing", refuses: []string{"", strongKey}},
		{reason: "a good key has no problem", values: []string{strongKey}, accepts: []string{strongKey},
			refuses: []string{"", strongKey + "x", strongKey[1:], strings.ToUpper(strongKey), "Bearer " + strongKey}},
		{reason: "any of several works, so that a key can be replaced", values: []string{strongKey, "second-" + strongKey},
			accepts: []string{strongKey, "second-" + strongKey}},
		{reason: "what a Secret made from a file ends with is no part of the key", values: []string{strongKey + "\n", "windows-" + strongKey + "\r\n"},
			accepts: []string{strongKey, "windows-" + strongKey}},
		{reason: "HTTP does not count space around a value", values: []string{" " + strongKey + "\t"}, accepts: []string{strongKey, " " + strongKey}},
		{reason: "an empty value is refused, and does not open the API to those without a key", values: []string{"", " \n"}, refuses: []string{"", " "},
			problems: []KeyProblem{{0, KeyEmpty}, {1, KeyEmpty}}},
		{reason: "a doubled key is reported and works", values: []string{strongKey, strongKey + "\n"}, accepts: []string{strongKey},
			problems: []KeyProblem{{1, KeyDuplicate}}},
		{reason: "a short key works and is reported", values: []string{"fifteen-letters"}, accepts: []string{"fifteen-letters"},
			problems: []KeyProblem{{0, KeyWeak}}},
		{reason: "length counts characters", values: []string{"ключ-из-16-букв!"}, accepts: []string{"ключ-из-16-букв!"}},
		{reason: "no header can carry a line break", values: []string{"two\nlines-of-a-longer-value"}, refuses: []string{"two\nlines-of-a-longer-value"},
			problems: []KeyProblem{{0, KeyUnusable}}},
		{reason: "a bad key leaves the others working", values: []string{"changeme", strongKey}, accepts: []string{strongKey}, refuses: []string{"changeme"},
			problems: []KeyProblem{{0, KeySample}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			ring, problems := NewKeyRing(tc.values)
			if diff := cmp.Diff(tc.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			for _, key := range tc.accepts {
				if _, ok := ring.Match(key); !ok {
					t.Errorf("Match(%q) refused it", key)
				}
			}
			for _, key := range tc.refuses {
				if _, ok := ring.Match(key); ok {
					t.Errorf("Match(%q) accepted it", key)
				}
			}
		})
	}
}

func TestSampleKeysAreRefused(t *testing.T) {
	for _, sample := range []string{
		"mirotalksfu_default_secret", "mirotalkp2p_default_secret", "mirotalk_default_secret", "MIROTALKC2C_DEFAULT_SECRET",
		"your_secret", "your-secret", "YOUR_API_KEY_SECRET", "API_KEY_SECRET", "<API_KEY_SECRET>", "<your secret here>",
		"${API_KEY_SECRET}", "changeme", "change-me", "Change_Me",
	} {
		ring, problems := NewKeyRing([]string{sample})
		if diff := cmp.Diff([]KeyProblem{{0, KeySample}}, problems); diff != "" {
			t.Errorf("%q: problems (-want +got):\n%s", sample, diff)
		}
		if _, ok := ring.Match(sample); ok {
			t.Errorf("%q opens the API", sample)
		}
	}
	for _, own := range []string{"your_secret_4d1f0c7be2a9", "<not-closed-4d1f0c7be", "prefix-changeme-suffix"} {
		if _, problems := NewKeyRing([]string{own}); problems != nil {
			t.Errorf("%q is no sample, but has %v", own, problems)
		}
	}
}

func TestKeyFingerprints(t *testing.T) {
	ring, _ := NewKeyRing([]string{strongKey, "second-" + strongKey})
	first, _ := ring.Match(strongKey)
	second, _ := ring.Match("second-" + strongKey)
	if first == second || len(first) != 8 {
		t.Errorf("fingerprints %q and %q, want two different ones of 8 digits", first, second)
	}
	again, _ := NewKeyRing([]string{strongKey})
	if diff := cmp.Diff([]string{first}, again.Fingerprints()); diff != "" {
		t.Errorf("a key has another fingerprint in another ring (-want +got):\n%s", diff)
	}
}

func TestKeyProblemsTellNoKey(t *testing.T) {
	values := []string{"", "changeme", "short-one", "short-one", "a\x01b-control-character"}
	_, problems := NewKeyRing(values)
	if len(problems) != 5 {
		t.Fatalf("got problems %v, want five", problems)
	}
	for _, p := range problems {
		if v := values[p.Index]; v != "" && strings.Contains(p.String(), v) {
			t.Errorf("%q tells the key", p)
		}
		if !strings.Contains(p.String(), ": ") {
			t.Errorf("%q does not say how to fix it", p)
		}
	}
	// The ring holds digests only, so that a dump of it in a log tells no key either.
	ring, _ := NewKeyRing([]string{strongKey})
	if strings.Contains(fmt.Sprintf("%+v", ring), strongKey) {
		t.Error("the ring holds the key itself")
	}
}

func BenchmarkKeyRingMatch(b *testing.B) {
	for _, keys := range []int{1, 4} {
		values := make([]string, keys)
		for i := range values {
			values[i] = fmt.Sprintf("%s-%d", strongKey, i)
		}
		ring, _ := NewKeyRing(values)
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := ring.Match(values[0]); !ok {
					b.Fatal("refused")
				}
			}
		})
	}
}
