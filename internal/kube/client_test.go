// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

// cached is a Client whose cache shows its writes, or does not.
type cached struct {
	client.Client
	behind bool
	err    error
}

func (c *cached) read(ctx context.Context, waits bool) error {
	if waits && c.behind {
		<-ctx.Done()
		return ctx.Err()
	}
	return c.err
}

func (c *cached) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, opts ...client.GetOption) error {
	return c.read(ctx, !(&client.GetOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency)
}

func (c *cached) List(ctx context.Context, _ client.ObjectList, opts ...client.ListOption) error {
	return c.read(ctx, !(&client.ListOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency)
}

func TestBoundedReadsDoNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cached{}
		h := &BoundedClient{Client: c}
		takes := func(when string, want time.Duration) {
			t.Helper()
			for kind, read := range map[string]func() error{
				"get":  func() error { return h.Get(t.Context(), client.ObjectKey{}, &v1alpha1.Meeting{}) },
				"list": func() error { return h.List(t.Context(), &v1alpha1.MeetingList{}) },
			} {
				h.behindUntil.Store(nil)
				began := time.Now()
				if err := read(); err != nil || time.Since(began) != want {
					t.Errorf("%s, a %s took %s, %v; want %s", when, kind, time.Since(began), err, want)
				}
			}
		}
		takes("of a cache that is up to date", 0)
		c.behind = true
		takes("of one that is behind", ownWritesWithin)
		began := time.Now()
		if err := h.List(t.Context(), &v1alpha1.MeetingList{}); err != nil || time.Since(began) != 0 {
			t.Errorf("right afterwards it waited %s (%v)", time.Since(began), err)
		}

		<-time.After(behindFor)
		over, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Get(over, client.ObjectKey{}, &v1alpha1.Meeting{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a reader who has no more time got %v", err)
		}
		c.behind, c.err = false, errors.New("no such kind")
		if err := h.Get(t.Context(), client.ObjectKey{}, &v1alpha1.Meeting{}); !errors.Is(err, c.err) {
			t.Errorf("the error became %v", err)
		}
	})
}
