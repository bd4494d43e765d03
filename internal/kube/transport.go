// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// answerWithin is more than a cluster's API takes to begin an answer: where it has too much to do, it refuses sooner
// (API Priority and Fairness).
const answerWithin = 15 * time.Second

var errSilent = errors.New("the cluster's API took the request and does not answer")

// WithAnswerTimeout gives up a request to which no answer begins: an informer would wait for it without end, on a connection
// that is well. An answer that has begun may take as long as it likes, as a watch does.
func WithAnswerTimeout(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancel(r.Context())
		silence := time.AfterFunc(answerWithin, cancel)
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
