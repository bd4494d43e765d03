// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/engine"
)

// Those that find no place are woken in their order, one for each place, and nobody takes it before them. One that does
// not come, because it has been deleted, keeps its place for some seconds.
func TestPlacesAreGivenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var woken []string
		p := newSlots(2, 2, 2, func(name types.NamespacedName) { woken = append(woken, name.Name) })
		enter := func(name string) bool { return p.enter(types.NamespacedName{Name: name}, lane{}) }
		step := func(reason string, got bool, want bool, wake ...string) {
			t.Helper()
			if got != want || !slices.Equal(woken, wake) {
				t.Errorf("%s: %t, want %t; woken are %q, want %q", reason, got, want, woken, wake)
			}
			woken = nil
		}
		leave := func() bool { p.leave(lane{}); return true }
		step("the first", enter("a"), true)
		step("the second", enter("b"), true)
		step("no place for a third", enter("c"), false)
		step("nor a fourth", enter("d"), false)
		step("who asks again is not in the queue twice", enter("c"), false)
		step("one leaves", leave(), true, "c")
		step("the place is kept", enter("e"), false)
		step("for the one that was told", enter("c"), true)
		step("another leaves", leave(), true, "d")
		step("the last leaves", leave(), true, "e")
		<-time.After(slotKept + time.Second)
		step("those that were told have not come", enter("f"), true)
		step("and both slots can be had", enter("g"), true)
		step("and no more", enter("h"), false)
	})
}

// Meetings that end while they wait, or that are gone, are in no other's way, and a slot that nobody takes is for the next.
func TestSlotsOfThoseThatDoNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var woken []string
		p := newSlots(1, 1, 1, func(name types.NamespacedName) { mu.Lock(); defer mu.Unlock(); woken = append(woken, name.Name) })
		heard := func(reason string, want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(woken, want) {
				t.Errorf("%s: woken are %q, want %q", reason, woken, want)
			}
			woken = nil
		}
		named := func(name string) types.NamespacedName { return types.NamespacedName{Name: name} }
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			p.enter(named(name), lane{})
		}
		p.drop(named("c"))
		heard("one in the middle of the queue ends")
		p.leave(lane{})
		heard("the slot is free", "b")
		p.drop(named("b"))
		heard("the one that was told ends", "d")
		<-time.After(slotKept + time.Second)
		heard("the next does not come, and nobody asks", "e")
		if !p.enter(named("e"), lane{}) {
			t.Error("the one that was told finds no slot")
		}
		p.drop(named("f"))
		p.leave(lane{})
		if !p.enter(named("g"), lane{}) {
			t.Error("nobody waits, and there is no slot")
		}
	})
}

// TestNamespacesTakeTurns: Meetings of one namespace that wait hold up no other namespace, and neither do servers that do not answer.
func TestNamespacesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var woken []string
		p := newSlots(6, 4, 2, func(name types.NamespacedName) { woken = append(woken, name.Namespace+name.Name) })
		at := func(namespace, server string) lane { return lane{namespace, engine.Server{URL: server}} }
		enter := func(namespace, name, server string) bool {
			return p.enter(types.NamespacedName{Namespace: namespace, Name: name}, at(namespace, server))
		}
		step := func(reason string, got, want bool, wake ...string) {
			t.Helper()
			if got != want || !slices.Equal(woken, wake) {
				t.Errorf("%s: %t, want %t; woken are %q, want %q", reason, got, want, woken, wake)
			}
			woken = nil
		}
		leave := func(namespace, server string) bool { p.leave(at(namespace, server)); return true }
		step("one server", enter("a", "1", "x"), true)
		step("and again", enter("a", "2", "x"), true)
		step("as many as of one server", enter("a", "3", "x"), false)
		step("another server", enter("a", "4", "y"), true)
		step("and again", enter("a", "5", "y"), true)
		step("as many as of one namespace", enter("a", "6", "z"), false)
		step("another namespace at the first server", enter("b", "1", "x"), false)
		step("at a server of its own", enter("b", "2", "w"), true)
		step("a third namespace", enter("c", "1", "v"), true)
		step("as many as of all", enter("c", "2", "v"), false)
		step("many wait", enter("a", "7", "x"), false)
		step("one leaves: the turn of those who have few", leave("a", "x"), true, "b1")
		step("another one of it", leave("a", "x"), true, "c2")
		step("it comes", enter("b", "1", "x"), true)
		step("another one leaves", leave("b", "w"), true, "a3")
		step("the third namespace leaves", leave("c", "v"), true, "a6")
		step("a Meeting that was told has moved", enter("a", "6", "w"), true)
		p.drop(types.NamespacedName{Namespace: "a", Name: "3"})
		step("one that was told is gone", true, true, "a7")
		for _, l := range []lane{at("a", "y"), at("a", "y"), at("a", "w"), at("b", "x")} {
			p.leave(l)
		}
		<-time.After(slotKept + time.Second)
		if p.tell(); p.taken != 0 || len(p.ofNamespaces)+len(p.ofServers)+len(p.queues)+len(p.lanes)+len(p.queued)+len(p.told) > 0 {
			t.Errorf("all have left, and this is kept: %+v", p)
		}
	})
}
