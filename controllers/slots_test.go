// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Those that find no place are woken in their order, one for each place, and nobody takes it before them. One that does
// not come, because it has been deleted, keeps its place for some seconds.
func TestPlacesAreGivenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var woken []string
		p := newSlots(2, func(name types.NamespacedName) { woken = append(woken, name.Name) })
		enter := func(name string) bool { return p.enter(types.NamespacedName{Name: name}) }
		step := func(reason string, got bool, want bool, wake ...string) {
			t.Helper()
			if got != want || !slices.Equal(woken, wake) {
				t.Errorf("%s: %t, want %t; woken are %q, want %q", reason, got, want, woken, wake)
			}
			woken = nil
		}
		leave := func() bool { p.leave(); return true }
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
		p := newSlots(1, func(name types.NamespacedName) { mu.Lock(); defer mu.Unlock(); woken = append(woken, name.Name) })
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
			p.enter(named(name))
		}
		p.drop(named("c"))
		heard("one in the middle of the queue ends")
		p.leave()
		heard("the slot is free", "b")
		p.drop(named("b"))
		heard("the one that was told ends", "d")
		<-time.After(slotKept + time.Second)
		heard("the next does not come, and nobody asks", "e")
		if !p.enter(named("e")) {
			t.Error("the one that was told finds no slot")
		}
		p.drop(named("f"))
		p.leave()
		if !p.enter(named("g")) {
			t.Error("nobody waits, and there is no slot")
		}
	})
}
