// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/engine"
)

// slotsTest does one step after another to slots, and checks who is woken.
type slotsTest struct {
	*slots
	t     *testing.T
	woken []string
}

func newSlotsTest(t *testing.T, all, ofNamespace, ofServer int) *slotsTest {
	s := &slotsTest{t: t}
	s.slots = newSlots(all, ofNamespace, ofServer, func(name types.NamespacedName) { s.woken = append(s.woken, name.Namespace+name.Name) })
	return s
}

func (s *slotsTest) step(reason string, got, want bool, wake ...string) {
	s.t.Helper()
	if got != want || !slices.Equal(s.woken, wake) {
		s.t.Errorf("%s: %t, want %t; woken are %q, want %q", reason, got, want, s.woken, wake)
	}
	s.woken = nil
}

// isEmpty is checked when all have left.
func (s *slotsTest) isEmpty() {
	s.t.Helper()
	if p := s.slots; p.taken != 0 || len(p.ofNamespaces)+len(p.ofServers)+p.waiting.Len()+len(p.waiters)+len(p.kept) > 0 {
		s.t.Errorf("all have left, and this is kept: %+v", p)
	}
}

// TestSlotsAreGivenInOrder: Meetings that find no slot are woken in their order, one for each slot, and no other takes it before them. One that
// needs none any more leaves it to the next.
func TestSlotsAreGivenInOrder(t *testing.T) {
	s := newSlotsTest(t, 2, 2, 2)
	in := lane{urgent: true}
	named := func(name string) types.NamespacedName { return types.NamespacedName{Name: name} }
	enter := func(name string) bool { return s.enter(named(name), in) }
	leave := func() bool { s.leave(in); return true }
	drop := func(name string) bool { s.drop(named(name)); return true }
	s.step("the first", enter("a"), true)
	s.step("the second", enter("b"), true)
	s.step("no slot for a third", enter("c"), false)
	s.step("nor a fourth", enter("d"), false)
	s.step("nor a fifth", enter("e"), false)
	s.step("one in the middle needs none any more", drop("d"), true)
	s.step("one leaves", leave(), true, "c")
	s.step("the slot is kept", enter("f"), false)
	s.step("for the one that was woken", enter("c"), true)
	s.step("another leaves", leave(), true, "e")
	s.step("the one that was woken has ended", drop("e"), true, "f")
	s.step("which needs none either", drop("f"), true)
	s.step("nobody waits", enter("g"), true)
	s.step("one leaves", leave(), true)
	s.step("the last leaves", leave(), true)
	s.isEmpty()
}

// TestNamespacesTakeTurns: Meetings of one namespace that wait hold up no other namespace, and neither do servers that do not answer.
func TestNamespacesTakeTurns(t *testing.T) {
	s := newSlotsTest(t, 6, 4, 2)
	at := func(namespace, server string) lane { return lane{namespace, engine.Server{URL: server}, true} }
	enter := func(namespace, name, server string) bool {
		return s.enter(types.NamespacedName{Namespace: namespace, Name: name}, at(namespace, server))
	}
	leave := func(namespace, server string) bool { s.leave(at(namespace, server)); return true }
	drop := func(namespace, name string) bool {
		s.drop(types.NamespacedName{Namespace: namespace, Name: name})
		return true
	}
	s.step("one server", enter("a", "1", "x"), true)
	s.step("and again", enter("a", "2", "x"), true)
	s.step("as many as of one server", enter("a", "3", "x"), false)
	s.step("another server", enter("a", "4", "y"), true)
	s.step("and again", enter("a", "5", "y"), true)
	s.step("as many as of one namespace", enter("a", "6", "z"), false)
	s.step("another namespace at the first server", enter("b", "1", "x"), false)
	s.step("at a server of its own", enter("b", "2", "w"), true)
	s.step("a third namespace", enter("c", "1", "v"), true)
	s.step("as many as of all", enter("c", "2", "v"), false)
	s.step("many wait", enter("a", "7", "x"), false)
	s.step("one leaves: the turn of those who have few", leave("a", "x"), true, "b1")
	s.step("another one of it", leave("a", "x"), true, "c2")
	s.step("the Meeting that was woken comes", enter("b", "1", "x"), true)
	s.step("another one leaves", leave("b", "w"), true, "a3")
	s.step("the third namespace leaves", leave("c", "v"), true, "a6")
	s.step("a Meeting that was woken has moved", enter("a", "6", "w"), true)
	s.step("one that was woken is gone", drop("a", "3"), true, "a7")
	s.step("and the next", drop("a", "7"), true)
	s.step("one that was woken is not needed", drop("c", "2"), true)
	for _, l := range []lane{at("a", "y"), at("a", "y"), at("a", "w"), at("b", "x")} {
		s.leave(l)
	}
	s.isEmpty()
}

// TestRequestedEndsFindSlots: a quarter of the slots is kept for what somebody waits for.
func TestRequestedEndsFindSlots(t *testing.T) {
	s := newSlotsTest(t, 8, 8, 4)
	due, requested := lane{namespace: "a", server: engine.Server{URL: "x"}}, lane{"a", engine.Server{URL: "x"}, true}
	enter := func(name string, in lane) bool { return s.enter(types.NamespacedName{Namespace: "a", Name: name}, in) }
	leave := func(of lane) bool { s.leave(of); return true }
	for _, name := range []string{"1", "2", "3"} {
		s.step("one that is due", enter(name, due), true)
	}
	s.step("no slot for a fourth", enter("4", due), false)
	s.step("one that is requested", enter("5", requested), true)
	s.step("no slot for another", enter("6", requested), false)
	s.step("one that waits is requested now", enter("4", requested), false)
	s.step("one that is due leaves", leave(due), true, "a6")
	s.step("the other leaves", leave(requested), true, "a4")
	s.step("one that was woken comes", enter("6", requested), true)
	s.step("the other comes", enter("4", requested), true)
	for _, l := range []lane{due, due, requested, requested} {
		s.leave(l)
	}
	s.isEmpty()
}
