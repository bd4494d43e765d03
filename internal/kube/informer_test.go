// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var (
	busy    = apierrors.NewTooManyRequests("later", 1)
	broken  = apierrors.NewInternalError(errors.New("etcd is away"))
	expired = apierrors.NewResourceExpired("too old")
)

func TestRetryingListWatch(t *testing.T) {
	for _, c := range []struct {
		reason string
		err    error
		// fails is for how long.
		fails time.Duration
		want  error
	}{
		{"nothing is wrong", io.EOF, 0, nil},
		{"the API is away for a while", io.ErrUnexpectedEOF, 50 * time.Second, nil},
		{"it is too busy", busy, 50 * time.Second, nil},
		{"it has no storage", broken, 50 * time.Second, nil},
		{"it stays away: the informer has to know", io.ErrUnexpectedEOF, time.Hour, io.ErrUnexpectedEOF},
		{"the version is too old: the informer has to list", expired, time.Second, expired},
		{"the informer ends", context.Canceled, time.Hour, context.Canceled},
	} {
		t.Run(c.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				fail := func() error {
					if time.Since(began) < c.fails {
						return c.err
					}
					return nil
				}
				lw := RetryingListWatch(&cache.ListWatch{
					ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return &corev1.SecretList{}, fail() },
					WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
						return watch.NewFake(), fail()
					},
				})
				_, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
				if !errors.Is(err, c.want) {
					t.Errorf("list: %v, want %v", err, c.want)
				}
				late := time.Since(began) - c.fails
				if c.want == nil && late > 2*tryEvery {
					t.Errorf("the list came %s after the API was back", late)
				}
				began = time.Now()
				if _, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{}); !errors.Is(err, c.want) {
					t.Errorf("watch: %v, want %v", err, c.want)
				}
			})
		})
	}
}

func TestRetryingListWatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		lw := RetryingListWatch(&cache.ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, io.EOF }})
		if _, err := lw.ListWithContext(ctx, metav1.ListOptions{}); !errors.Is(err, io.EOF) || time.Since(began) > 5*time.Second {
			t.Errorf("ended with %v after %s", err, time.Since(began))
		}
	})
}
