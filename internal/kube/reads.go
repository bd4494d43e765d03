// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/limit"
)

const (
	// allReads is the part of a manager's memory that reads past the caches may take at once, and oneNamespaceReads the part that those of one
	// namespace may.
	allReads, oneNamespaceReads = 1. / 8, 1. / 16
	// readCost is what a byte of an answer takes until it is an object: the byte, and up to seven in maps of short words.
	readCost = 8
	// firstPage is how many objects EachPage asks for at first, and smallerBy how many times fewer where they are too large.
	firstPage, smallerBy = 512, 8
)

// reads bound the memory of answers of the cluster's API, by namespace. Requests of anybody lead to such reads, and an object may have a
// megabyte.
type reads struct{ memory *limit.Budget }

func newReads() *reads { return &reads{limit.NewMemoryBudget(allReads, oneNamespaceReads)} }

// readOf is one read, in its context. Its answer takes memory until it has ended.
type readOf struct {
	namespace string
	taken     int
}

type readKey struct{}

// begin counts the answers of requests with the context that it returns, until end is called.
func (r *reads) begin(ctx context.Context, namespace string) (_ context.Context, end func()) {
	read := &readOf{namespace: namespace}
	return context.WithValue(ctx, readKey{}, read), func() { r.memory.Change(namespace, -read.taken) }
}

// count is a transport that has answers counted.
func (r *reads) count(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport // As http.Client does.
	}
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if read, ok := request.Context().Value(readKey{}).(*readOf); ok && err == nil {
			response.Body = &countedBody{response.Body, r, read}
		}
		return response, err
	})
}

type countedBody struct {
	io.ReadCloser
	reads *reads
	read  *readOf
}

// Read fails with Busy where there is no memory for what was read.
func (b *countedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if !b.reads.memory.Change(b.read.namespace, n*readCost) {
		_, each := b.reads.memory.Size()
		return n, apierrors.NewTooManyRequests(fmt.Sprintf(
			"what is read of namespace %q at once takes more memory than its share of %d MB: make its objects smaller, or give the managers more memory",
			b.read.namespace, each>>20), 1)
	}
	b.read.taken += n * readCost
	return n, err
}

// EachPage lists page by page, and calls visit after each. Pages are small where objects are so large that there is no memory for more.
func EachPage(ctx context.Context, from client.Reader, page client.ObjectList, visit func(), opts ...client.ListOption) error {
	most, next := int64(firstPage), ""
	for {
		err := from.List(ctx, page, append(opts, client.Limit(most), client.Continue(next))...)
		switch {
		case AnswerOf(err) == Busy && most > 1:
			most /= smallerBy
			continue
		case err != nil:
			return err
		}
		visit()
		if next = page.GetContinue(); next == "" {
			return nil
		}
	}
}
