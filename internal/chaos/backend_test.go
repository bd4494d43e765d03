// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// tryAgainAfter is how soon programs try again what failed.
const tryAgainAfter = 50 * time.Millisecond

// callTimeout is after how long programs give a call up.
const callTimeout = 10 * time.Second

// connections are made again for every call: a manager that was killed leaves broken ones.
var connections = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: callTimeout}

// backend is a program that calls the API, and calls again when it gets no answer or one that says to.
type backend struct{ baseURL, key string }

// once calls once. The status is 0 when there was no answer.
func (b backend) once(ctx context.Context, method, path string, body any) (status int, answer map[string]any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	request, err := http.NewRequestWithContext(ctx, method, b.baseURL+path, bytes.NewReader(encoded))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", b.key)
	response, err := connections.Do(request)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil
	}
	_ = json.Unmarshal(raw, &answer)
	return response.StatusCode, answer
}

// insist calls until the answer is one of those that are wanted. An answer that is neither wanted nor asks to try
// again is an error.
func (b backend) insist(ctx context.Context, method, path string, body any, wanted ...int) error {
	for {
		status, answer := b.once(ctx, method, path, body)
		for _, w := range wanted {
			if status == w {
				return nil
			}
		}
		if status != 0 && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests {
			return fmt.Errorf("%s %s answers %d %v", method, path, status, answer)
		}
		if !pause(ctx, tryAgainAfter) {
			return fmt.Errorf("%s %s answers %d %v still: %w", method, path, status, answer, ctx.Err())
		}
	}
}

// open makes a meeting.
func (b backend) open(ctx context.Context, body map[string]any) error {
	return b.insist(ctx, http.MethodPost, "/api/v1/meeting", body, http.StatusOK)
}

// end ends a meeting. That it is not there is the answer to a second call, when the first one's got lost.
func (b backend) end(ctx context.Context, room string) error {
	path := "/api/v1/meeting/" + room
	switch status, answer := b.once(ctx, http.MethodDelete, path, nil); status {
	case http.StatusOK, http.StatusAccepted:
		return nil
	case 0, http.StatusServiceUnavailable:
		pause(ctx, tryAgainAfter)
		return b.insist(ctx, http.MethodDelete, path, nil, http.StatusOK, http.StatusAccepted, http.StatusNotFound)
	default:
		return fmt.Errorf("DELETE %s answers %d %v", room, status, answer)
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
