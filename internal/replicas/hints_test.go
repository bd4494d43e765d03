// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// What one replica hears of a room, all others are told.
func TestHintsReachTheOtherReplicas(t *testing.T) {
	c := testkit.ControlPlane(t)
	one, two, three := start(t, c, 1), start(t, c, 1), start(t, c, 1)
	one.sees(t, 2)
	one.Hint("board")
	one.Hint("lobby")
	for _, other := range []*member{two, three} {
		got := []string{other.next(t), other.next(t)}
		slices.Sort(got)
		if !slices.Equal(got, []string{"board", "lobby"}) {
			t.Errorf("it was told of %q", got)
		}
	}
	if n := len(one.hinted); n > 0 {
		t.Errorf("its own hints come back: %d", n)
	}
}

func (m *member) next(t *testing.T) string {
	t.Helper()
	select {
	case room := <-m.hinted:
		return room
	case <-time.After(patience):
		t.Fatal("no hint comes")
		return ""
	}
}

// Where nobody takes them, hints are dropped.
func TestHintsThatNobodyTakesDoNotPileUp(t *testing.T) {
	g := New(Options{})
	for i := range 10 * maxHints {
		g.Hint(fmt.Sprint("room-", i))
	}
	if n := len(g.outbox.take()); n != maxHints {
		t.Errorf("%d wait, want %d", n, maxHints)
	}
}

// A request with more than a replica would send is refused, and the port takes hints by POST alone.
func TestHintsAreBounded(t *testing.T) {
	taken := 0
	m := NewMember(New(Options{}), Answers{Known: func() uint64 { return 7 }, Hinted: func(string) { taken++ }})
	ask := func(method, body string) (int, string) {
		w := httptest.NewRecorder()
		m.handler().ServeHTTP(w, httptest.NewRequest(method, hintsPath, strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
	if status, _ := ask(http.MethodPost, strings.Repeat("x", maxHintBytes+1)); status != http.StatusBadRequest {
		t.Errorf("too long a hint is answered with %d", status)
	}
	if status, _ := ask(http.MethodPost, strings.Repeat("room\n", maxHintBytes)); status != http.StatusBadRequest || taken > maxHintBytes/len("room\n")+1 {
		t.Errorf("too many hints are answered with %d, and %d are taken", status, taken)
	}
	if status, answer := ask(http.MethodGet, ""); status != http.StatusOK || answer != "7" {
		t.Errorf("a question is answered with %d %q", status, answer)
	}
}
