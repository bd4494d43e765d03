// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

const (
	// tryEvery is the least time between two tries. Up to as much is added, so that not all replicas try at once.
	tryEvery = time.Second
	// giveUpAfter hands the error to the informer, which logs it and begins again.
	giveUpAfter = time.Minute
)

// RetryingListWatch tries again by itself, at a steady pace, while the API is out of reach or says that it cannot answer now. All
// other errors are the informer's.
func RetryingListWatch(lw cache.ListerWatcher) *cache.ListWatch {
	from := cache.ToListerWatcherWithContext(lw)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return untilAnswered(ctx, func() (runtime.Object, error) { return from.ListWithContext(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return untilAnswered(ctx, func() (watch.Interface, error) { return from.WatchWithContext(ctx, o) })
		},
	}
}

func untilAnswered[T any](ctx context.Context, do func() (T, error)) (T, error) {
	for until := time.Now().Add(giveUpAfter); ; {
		got, err := do()
		if err == nil || !isTransient(err) || time.Now().After(until) {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, err
		case <-time.After(tryEvery + rand.N(tryEvery)): //nolint:gosec // spreads load, keeps no secret
		}
	}
}

// isTransient says that an error is about the API, which is unavailable or too busy, and not about what was asked.
func isTransient(err error) bool {
	answer := AnswerOf(err)
	return answer == Busy || answer == Unreachable && !errors.Is(err, context.Canceled)
}
