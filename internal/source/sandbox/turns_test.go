// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/source"
)

// newCountedSandbox is a sandbox whose processes write down what they evaluate, in order.
func newCountedSandbox(t *testing.T) (s *Sandbox, evaluated func() []string) {
	t.Helper()
	record := filepath.Join(t.TempDir(), "record")
	program := newSandbox(t).command[0]
	s = New("/bin/sh", "-c", `input=$(cat); printf '%s\n' "$input" >>"$0"; printf '%s' "$input" | "$1" `+Argument, record, program)
	return s, func() []string {
		text, err := os.ReadFile(record)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	}
}

// However many files an owner has, another owner's file waits for one of them.
func TestOwnersTakeTurns(t *testing.T) {
	s, evaluated := newCountedSandbox(t)
	synctest.Test(t, func(t *testing.T) {
		const files = 3
		evaluate := func(owner, file string) {
			if _, err := s.EvaluateConfigJS(t.Context(), owner, "module.exports = {api: {}} //"+file, nil); err != nil {
				t.Error(err)
			}
		}
		done := s.occupy(t)
		for i := range files {
			go evaluate("many", fmt.Sprint("many ", i))
			synctest.Wait()
		}
		go evaluate("one", "the one")
		synctest.Wait()
		done()
		synctest.Wait()
		order := evaluated()
		if len(order) != files+1 || !strings.Contains(strings.Join(order[:2], ""), "the one") {
			t.Errorf("evaluated, in this order: %s", order)
		}
	})
}

// pauseOf is how long an owner's next file is put off for.
func (s *Sandbox) pauseOf(t *testing.T, owner, script string, env map[string]string) time.Duration {
	t.Helper()
	_, err := s.EvaluateConfigJS(t.Context(), owner, script, env)
	var pause source.Pause
	if errors.As(err, &pause) && !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("a pause is %v, want Unavailable", err)
	}
	return time.Duration(pause)
}

// An owner whose file was slow pauses, whichever file is next and whatever has changed about it. No other does.
func TestSlowFilesPauseTheirOwner(t *testing.T) {
	const loop, good = "for (;;);", "module.exports = {api: {keySecret: 's'}}"
	for reason, slow := range map[string]string{
		"no end":         loop,
		"too much":       "let a = []; for (;;) a = [a, a.concat(a), new Array(1e5).fill(a)];",
		"a slow success": "for (let i = 0; i < 2e6; i++); " + good,
	} {
		t.Run(reason, func(t *testing.T) {
			s, evaluated := newCountedSandbox(t)
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				if pause := s.pauseOf(t, "slow", good, nil); pause != 0 {
					t.Fatalf("a pause of %s at the start", pause)
				}
				s.pauseOf(t, "slow", slow, nil)
				for what, script := range map[string]string{"the same": slow, "another": slow + "//", "a good one": good + "//"} {
					if pause := s.pauseOf(t, "slow", script, map[string]string{"X": "changed"}); pause != firstPause {
						t.Errorf("%s: a pause of %s", what, pause)
					}
				}
				if n := len(evaluated()); n != 2 {
					t.Errorf("%d files are evaluated, want the first two", n)
				}
				if pause := s.pauseOf(t, "slow", good, nil); pause != 0 {
					t.Errorf("a file that is known waits for %s", pause)
				}
				if pause := s.pauseOf(t, "another", good+"//", nil); pause != 0 {
					t.Errorf("another owner waits for %s", pause)
				}
				if n := len(evaluated()); n != 3 {
					t.Errorf("%d files are evaluated, want the other owner's as well", n)
				}
				if spent := time.Since(begin); spent != 0 {
					t.Fatalf("%s have passed on the test's clock", spent)
				}
				<-time.After(firstPause)
				if pause := s.pauseOf(t, "slow", good+"// after", nil); pause != 0 {
					t.Errorf("a pause of %s after the pause", pause)
				}
			})
		})
	}
}

// Pauses double up to a bound, whatever is between them, and are forgotten in the end.
func TestPausesGrow(t *testing.T) {
	s := newSandbox(t)
	synctest.Test(t, func(t *testing.T) {
		next := func() time.Duration {
			s.pauses.lengthen("slow")
			left := time.Until(s.pauses.until("slow"))
			<-time.After(left)
			return left
		}
		got := []time.Duration{next(), next()}
		if pause := s.pauseOf(t, "slow", "module.exports = {api: {}}", nil); pause != 0 {
			t.Errorf("a good file after a pause: %s", pause)
		}
		for range 6 {
			got = append(got, next())
		}
		if want := "[1s 2s 4s 8s 16s 32s 1m0s 1m0s]"; fmt.Sprint(got) != want {
			t.Errorf("the pauses are %s, want %s", got, want)
		}
		<-time.After(pauseMemory + time.Second)
		if pause := next(); pause != firstPause {
			t.Errorf("a pause of %s after a long time", pause)
		}
		s.pauses.lengthen("another")
		<-time.After(pauseMemory + longestPause)
		s.pauses.lengthen("a third")
		if n := len(s.pauses.all); n != 1 {
			t.Errorf("%d owners are remembered", n)
		}
	})
}

// A process that fails costs time too, for whatever reason. A caller that went away says nothing about the file.
func TestFailuresPauseTheirOwner(t *testing.T) {
	s := New("/bin/sh", "-c", "kill -9 $$")
	synctest.Test(t, func(t *testing.T) {
		s.pauseOf(t, "failing", "x", nil)
		if pause := s.pauseOf(t, "failing", "x", nil); pause != firstPause {
			t.Errorf("after a failure: a pause of %s", pause)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.EvaluateConfigJS(gone, "innocent", "x", nil); !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("a caller that went away: %v", err)
		}
		if left := time.Until(s.pauses.until("innocent")); left > 0 {
			t.Errorf("a caller that went away: a pause of %s", left)
		}
	})
}
