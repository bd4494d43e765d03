// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTransportGivesUpSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const write = 3 * time.Second
		silent := WithAnswerTimeout(write)(roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		for method, within := range map[string]time.Duration{
			http.MethodGet: readWithin, http.MethodHead: readWithin,
			http.MethodPost: write, http.MethodPut: write, http.MethodPatch: write, http.MethodDelete: write,
		} {
			began, r := time.Now(), request(t)
			r.Method = method
			if _, err := silent.RoundTrip(r); !errors.Is(err, errSilent) || time.Since(began) != within { //nolint:bodyclose // none
				t.Errorf("%s, after %s: %v", method, time.Since(began), err)
			}
		}
	})
}

// A watch says nothing for hours.
func TestTransportKeepsWhatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked *http.Request
		answers := WithAnswerTimeout(time.Second)(roundTripper(func(r *http.Request) (*http.Response, error) {
			asked = r
			return &http.Response{Body: io.NopCloser(strings.NewReader("late"))}, nil
		}))
		response, err := answers.RoundTrip(request(t))
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		if asked.Context().Err() != nil {
			t.Error("a request whose answer has begun is given up")
		}
		if text, err := io.ReadAll(response.Body); string(text) != "late" || err != nil {
			t.Errorf("the answer is %q, %v", text, err)
		}
		_ = response.Body.Close()
		if asked.Context().Err() == nil {
			t.Error("a request is kept after its answer was closed")
		}
	})
}

func TestTransportPassesErrorsOn(t *testing.T) {
	broken := WithAnswerTimeout(time.Second)(roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }))
	if _, err := broken.RoundTrip(request(t)); !errors.Is(err, io.ErrUnexpectedEOF) { //nolint:bodyclose // none
		t.Errorf("the error is %v", err)
	}
}

func request(t *testing.T) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://cluster.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
