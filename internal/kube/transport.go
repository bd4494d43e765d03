// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// readWithin is more than an API server takes to begin an answer to a read: where it has too much to do, it refuses sooner
// (API Priority and Fairness).
const readWithin = 15 * time.Second

// DefaultWriteTimeout is how long a write may take: a slow admission webhook is waited for, and two writes fit into one request to the API.
const DefaultWriteTimeout = 5 * time.Second

var errSilent = errors.New("the API server took the request and does not answer")

// WithAnswerTimeout gives up a request to which no answer begins: an informer would wait for it without end, on a connection
// that is well. An answer that has begun may take as long as it likes, as a watch does. All that is no read has the time of a write.
func WithAnswerTimeout(write time.Duration) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return answerTimeout(next, write) }
}

func answerTimeout(next http.RoundTripper, write time.Duration) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		within := readWithin
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			within = write
		}
		ctx, cancel := context.WithCancel(r.Context())
		silence := time.AfterFunc(within, cancel)
		response, err := next.RoundTrip(r.WithContext(ctx))
		if !silence.Stop() {
			if err == nil {
				_ = response.Body.Close()
			}
			return nil, errSilent
		}
		if err != nil {
			cancel()
			return nil, err
		}
		response.Body = &body{ReadCloser: response.Body, done: cancel}
		return response, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// body lets go of its request when it is closed.
type body struct {
	io.ReadCloser
	done context.CancelFunc
}

func (b *body) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}
