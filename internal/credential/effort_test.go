// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"

	"convene.dev/convene/internal/fault"
)

// atSite is the turn of a person in a namespace. Sites have numbers here.
func atSite(namespace string, site int) Turn {
	return Turn{namespace, netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(site)}), 32)}
}

// check asks for a computation that runs until end gives it a sign, and tells when it begins.
func check(ctx context.Context, turn Turn, name string, begun chan<- string, end <-chan struct{}) {
	_ = withEffort(ctx, turn, 0, func() {
		begun <- name
		<-end
	})
}

// TestHalfOfTheProcessorsAreKeptFree: password checks that anybody can ask for leave the rest to other requests.
func TestHalfOfTheProcessorsAreKeptFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := max(1, runtime.GOMAXPROCS(0)/2)
		begun, end := make(chan string, 4*most), make(chan struct{})
		for i := range 4 * most {
			go check(t.Context(), atSite("team", i), "", begun, end)
		}
		synctest.Wait()
		if len(begun) != most {
			t.Errorf("%d computations run at once, want %d", len(begun), most)
		}
		// Who waits for longer than there is time is told so, and nothing about the password.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := HashPassword(ctx, Turn{}, "open sesame"); !errors.Is(err, context.Canceled) || fault.As(err).Message != ErrBusy.Message {
			t.Errorf("a password to be hashed: %v", err)
		}
		close(end)
	})
}

// TestNamespacesTakeTurns: many passwords of one namespace wait, typed at as many sites. A password of another namespace, and one of a backend, is
// the next to be checked. Where all that wait are of one site, a password of another site is the next.
func TestNamespacesTakeTurns(t *testing.T) {
	for name, tc := range map[string]struct {
		sites int
		other Turn
	}{
		"another namespace":             {100, atSite("another", 1)},
		"a backend of the namespace":    {100, Turn{Namespace: "team"}},
		"another site of the namespace": {1, atSite("team", 101)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				most := max(1, runtime.GOMAXPROCS(0)/2)
				begun, end := make(chan string, 101), make(chan struct{})
				for i := range 100 {
					go check(t.Context(), atSite("team", i%tc.sites), "a guess", begun, end)
				}
				synctest.Wait()
				for range most {
					<-begun
				}
				go check(t.Context(), tc.other, "other", begun, end)
				synctest.Wait()
				end <- struct{}{}
				if next := <-begun; next != "other" {
					t.Errorf("%s goes before", next)
				}
				close(end)
			})
		})
	}
}

// TestNobodyComputesForWhoHasGone: a password whose caller does not wait any more takes no processor.
func TestNobodyComputesForWhoHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		users, _ := ParseUsers([]byte(adaLine))
		begun, end := make(chan string, 100), make(chan struct{})
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			go check(t.Context(), Turn{}, "", begun, end)
		}
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() {
			_, err := users.Verify(ctx, Turn{Namespace: "team"}, "ada", "correct horse")
			answer <- err
		}()
		synctest.Wait()
		leave()
		synctest.Wait()
		if err := <-answer; !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("%v", err)
		}
		close(end)
	})
}

func TestEveryAllowedHashFitsTheBudget(t *testing.T) {
	if effortBudget < maxArgon2Memory || effortShare > effortBudget {
		t.Errorf("a hash may take %d KiB of a budget of %d: it would wait for ever", maxArgon2Memory, effortBudget)
	}
}
