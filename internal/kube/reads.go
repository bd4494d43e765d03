// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"io"
	"net/http"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/limit"
)

const (
	// allReads is the part of a manager's memory that reads past the caches may take at once, and oneNamespaceReads the part that those of one
	// namespace may.
	allReads, oneNamespaceReads = 1. / 8, 1. / 16
	// readCost is what a byte of an answer takes until it is an object: the byte, and up to ten in maps of short words.
	readCost = 12
	// firstPage is how many objects EachPage asks for at first, smallerBy how many times fewer where they are too large, and largerBy how many times
	// more after those.
	firstPage, smallerBy, largerBy = 512, 8, 2
)

// reads bound the memory of answers of the API server, by namespace. Requests of anybody lead to such reads, and an object may have a
// megabyte.
type reads struct{ memory *limit.Budget }

func newReads() *reads { return &reads{limit.NewMemoryBudget(allReads, oneNamespaceReads)} }

type readOf struct{}

// do reads into an object of a namespace. The answer holds memory until it has been decoded, and the object for as long as the work of the
// context has it.
func (r *reads) do(ctx context.Context, namespace string, into any, read func(context.Context) error) error {
	reading, end := limit.Holding(context.WithValue(ctx, readOf{}, namespace))
	defer end()
	if err := read(reading); err != nil {
		return err
	}
	if !r.memory.Hold(ctx, namespace, sizeOf(reflect.ValueOf(into))) {
		return errNoMemory()
	}
	return nil
}

// count is a transport that has answers counted.
func (r *reads) count(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport // As http.Client does.
	}
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(request)
		if namespace, ok := request.Context().Value(readOf{}).(string); ok && err == nil {
			answer.Body = &countedBody{answer.Body, func(n int) bool { return r.memory.Hold(request.Context(), namespace, n*readCost) }}
		}
		return answer, err
	})
}

type countedBody struct {
	io.ReadCloser
	hold func(bytes int) bool
}

// Read fails with Busy where there is no memory for what was read.
func (b *countedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if !b.hold(n) {
		return n, errNoMemory()
	}
	return n, err
}

func errNoMemory() error {
	return apierrors.NewTooManyRequests("what is read of one namespace at once takes more than its share of the memory: "+
		"make its objects smaller, or "+RaiseMemory, 1)
}

// EachPage lists page by page, and calls visit after each. Pages are small where objects are so large that there is no memory for more.
func EachPage(ctx context.Context, from client.Reader, page client.ObjectList, visit func(), opts ...client.ListOption) error {
	most, next := int64(firstPage), ""
	for {
		err := onePage(ctx, from, page, visit, append(opts, client.Limit(most), client.Continue(next))...)
		switch {
		case AnswerOf(err) == Busy && most > 1:
			most = max(most/smallerBy, 1)
			continue
		case err != nil:
			return err
		}
		most = min(largerBy*most, firstPage)
		if next = page.GetContinue(); next == "" {
			return nil
		}
	}
}

func onePage(ctx context.Context, from client.Reader, page client.ObjectList, visit func(), opts ...client.ListOption) error {
	ctx, letGo := limit.Holding(ctx)
	defer letGo()
	err := from.List(ctx, page, opts...)
	if err == nil {
		visit()
	}
	return err
}
