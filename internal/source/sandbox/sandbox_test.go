// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/sha256"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/source"
)

// TestMain makes the test program able to be the process of an evaluation, as cmd/manager is.
func TestMain(m *testing.M) {
	if Requested(os.Args) {
		os.Exit(Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func newSandbox(t testing.TB) *Sandbox {
	t.Helper()
	s, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// occupy evaluates another owner's file, until it is told to end.
func (s *Sandbox) occupy(t testing.TB) (end func()) {
	t.Helper()
	end, err := s.turns.Take(t.Context(), "another")
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func TestGoodFile(t *testing.T) {
	s := newSandbox(t)
	text, err := os.ReadFile("../testdata/config.js")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("API_KEY_SECRET", "of-the-manager")
	for reason, env := range map[string]map[string]string{"no environment": nil, "its own environment": {"API_KEY_SECRET": "5e1f"}} {
		want, err := source.EvaluateConfigJS(t.Context(), string(text), env)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.EvaluateConfigJS(t.Context(), "ns", string(text), env)
		if err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: not what the same file says in this process (-want +got):\n%s", reason, diff)
		}
	}
}

func TestErrorOfTheFile(t *testing.T) {
	s := newSandbox(t)
	for range 2 {
		_, err := s.EvaluateConfigJS(t.Context(), "ns", "\nhunter2 100%d", nil)
		if !fault.Is(err, fault.KindInvalid) || !strings.HasPrefix(err.Error(), "config.js line 2 is not valid JavaScript") {
			t.Errorf("got %v, want Invalid with the line", err)
		}
	}
	_, err := s.EvaluateConfigJS(t.Context(), "ns", strings.Repeat("/", source.MaxScript+1), nil)
	if !fault.Is(err, fault.KindInvalid) || !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("too long a file: %v", err)
	}
}

// hostileFiles are files that stop a process for good, or take all of its memory, when nothing is around it: one of each kind. Slow tests
// add more of each.
var hostileFiles = map[string]string{
	"an endless loop":                      "for (;;);",
	"endless calls":                        "function f() { f() } f();",
	"a string that doubles":                "let s = 'x'; for (;;) s += s;",
	"a built-in that searches 10¹⁵ places": "Array.prototype.indexOf.call({length: 2 ** 50}, 1);",
	"an expression that tries 2ⁿ ways":     "/^(a+)+\\1?$/.test('a'.repeat(64) + 'b'); /(x+x+)+(?=y)/.test('x'.repeat(64));",
	"JSON a million deep":                  "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; JSON.stringify(a);",
	"a file half a million deep":           strings.Repeat("[", 500_000),
	"a Proxy that never says what it is":   "throw new Proxy({}, {getPrototypeOf() { for (;;); }, get() { for (;;); }});",
}

func TestHostileFiles(t *testing.T) {
	s := newSandbox(t)
	const tail = "\nmodule.exports = {api: {keySecret: 'reached the end'}}"
	for reason, script := range hostileFiles {
		t.Run(reason, func(t *testing.T) {
			got, err := s.EvaluateConfigJS(t.Context(), reason, script+tail, nil) // Each for itself: none pauses.
			if !fault.Is(err, fault.KindInvalid) {
				t.Fatalf("got %v, %v (%q), want Invalid", got, err, got.KeySecret)
			}
			t.Log(err)
		})
	}
	// The one that comes after them is none the worse.
	if _, err := s.EvaluateConfigJS(t.Context(), "ns", tail, nil); err != nil {
		t.Error(err)
	}
}

func TestResultsAreRemembered(t *testing.T) {
	s := newSandbox(t)
	const script = "module.exports = {api: {allowed: {join: process.env.JOIN}}}"
	first, err := s.EvaluateConfigJS(t.Context(), "ns", script, map[string]string{"JOIN": "false"})
	if err != nil {
		t.Fatal(err)
	}
	first.Allowed["join"] = true // The caller may change the result that it gets.
	s.command = []string{"/nonexistent"}
	done := s.occupy(t) // What is remembered does not wait for that.
	again, err := s.EvaluateConfigJS(t.Context(), "ns", script, map[string]string{"JOIN": "false"})
	done()
	if diff := cmp.Diff(source.Settings{Allowed: map[string]bool{"join": false}}, again); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := s.EvaluateConfigJS(t.Context(), "ns", script, map[string]string{"JOIN": "true"}); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("another environment, and no program: %v, want Unavailable", err)
	}
	for i := range 2 * memorySize {
		s.memory.Add(sha256.Sum256([]byte{byte(i)}), answer{})
	}
	if s.memory.Len() != memorySize {
		t.Errorf("%d results are remembered, want %d", s.memory.Len(), memorySize)
	}
}

func TestWhatIsNotTheFilesFaultIsUnavailable(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	waiting := newSandbox(t)
	waiting.occupy(t)
	program := newSandbox(t).command[0]
	for _, tc := range []struct {
		reason  string
		sandbox *Sandbox
		ctx     context.Context
	}{
		{"the caller went away", newSandbox(t), ended},
		{"the caller went away while another file is evaluated", waiting, ended},
		{"the program is not there", New("/nonexistent", Argument), t.Context()},
		{"the program is killed", New("/bin/sh", "-c", "kill -9 $$"), t.Context()},
		{"the program does not know the argument", New(program, "-test.run=^$"), t.Context()},
	} {
		_, err := tc.sandbox.EvaluateConfigJS(tc.ctx, "ns", "module.exports = {}", nil)
		if !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("%s: %v, want Unavailable", tc.reason, err)
		}
		if tc.sandbox.memory.Len() != 0 {
			t.Errorf("%s: it is remembered", tc.reason)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	b := &bounded{most: 4}
	if _, err := b.Write([]byte("1234")); err != nil {
		t.Error(err)
	}
	if _, err := b.Write([]byte("5")); err == nil {
		t.Error("a byte too many was taken")
	}
}

func BenchmarkSandbox(b *testing.B) {
	s := newSandbox(b)
	text, err := os.ReadFile("../testdata/config.js")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.memory.Purge()
		if _, err := s.EvaluateConfigJS(b.Context(), "ns", string(text), nil); err != nil {
			b.Fatal(err)
		}
	}
}
