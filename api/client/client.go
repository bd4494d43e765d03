// SPDX-License-Identifier: Apache-2.0

// Package client calls the conferencing service's REST API. It needs nothing but the standard library.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxAnswer bounds how much of an answer is read, in bytes.
const maxAnswer = 64 << 20

// Client calls one service. Its methods may be called at once from several goroutines.
type Client struct {
	// BaseURL of the service, for example https://meet.example.com, without a slash at the end.
	BaseURL string
	// Secret of its API.
	Secret string
	// HTTP sends the requests; nil means http.DefaultClient. It has to allow 10 s for EndMeeting, which waits for
	// people to leave.
	HTTP *http.Client
}

// Error is a request that the service refused or could not carry out.
type Error struct {
	// Status of the HTTP answer.
	Status int
	// Message says what to do.
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (HTTP status %d)", e.Message, e.Status) }

// Stats are totals of what is going on now.
type Stats struct {
	TotalRooms int `json:"totalRooms"`
	TotalUsers int `json:"totalUsers"`
}

// Stats counts rooms and the people in them.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	err := c.call(ctx, http.MethodGet, "stats", nil, &s)
	return s, err
}

// Meetings lists the active meetings. What is known of each differs between services, and stays as it came.
func (c *Client) Meetings(ctx context.Context) ([]json.RawMessage, error) {
	var answer struct{ Meetings []json.RawMessage }
	err := c.call(ctx, http.MethodGet, "meetings", nil, &answer)
	return answer.Meetings, err
}

// MeetingsPage lists at most limit active meetings (1 to 1,000), the oldest first. The first page is after "", and each other page is after
// the next of the page before. Next is empty on the last page.
func (c *Client) MeetingsPage(ctx context.Context, limit int, after string) (meetings []json.RawMessage, next string, err error) {
	var answer struct {
		Meetings []json.RawMessage
		Next     string
	}
	err = c.call(ctx, http.MethodGet, "meetings?"+pageQuery(limit, after), nil, &answer)
	return answer.Meetings, answer.Next, err
}

// CreateMeeting makes a meeting and returns its room URL.
func (c *Client) CreateMeeting(ctx context.Context) (roomURL string, err error) {
	var answer struct{ Meeting string }
	err = c.call(ctx, http.MethodPost, "meeting", nil, &answer)
	return answer.Meeting, err
}

// EndMeeting ends the active meeting of a room (Variant A). Peers are sent to redirect, or to the home page where it
// is empty.
func (c *Client) EndMeeting(ctx context.Context, room, redirect string) error {
	return c.call(ctx, http.MethodDelete, meetingPath(room), map[string]string{"redirect": redirect}, nil)
}

// Token makes a meeting token.
func (c *Client) Token(ctx context.Context, request TokenRequest) (token string, err error) {
	var answer struct{ Token string }
	err = c.call(ctx, http.MethodPost, "token", request, &answer)
	return answer.Token, err
}

// Join makes a URL that takes a user straight into a room.
func (c *Client) Join(ctx context.Context, request JoinRequest) (joinURL string, err error) {
	var answer struct{ Join string }
	err = c.call(ctx, http.MethodPost, "join", request, &answer)
	return answer.Join, err
}

// Docs returns the page (HTML) of the service's interactive documentation.
func (c *Client) Docs(ctx context.Context) (page string, err error) {
	status, raw, err := c.send(ctx, http.MethodGet, "docs", nil)
	if err == nil {
		err = refused(status, raw)
	}
	return string(raw), err
}

// call sends a request and decodes the answer into result, which may be nil.
func (c *Client) call(ctx context.Context, method, path string, body, result any) error {
	status, raw, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	if err := refused(status, raw); err != nil || result == nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

func (c *Client) send(ctx context.Context, method, path string, body any) (status int, answer []byte, err error) {
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.BaseURL+"/api/v1/"+path, reader)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", c.Secret)
	request.Header.Set("Content-Type", "application/json")
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, answer, err
}

// refused says why the service did not do what was asked: the answer of a failed request has a property error.
func refused(status int, answer []byte) error {
	var refusal struct{ Error any }
	if json.Unmarshal(answer, &refusal) == nil && refusal.Error != nil {
		return &Error{Status: status, Message: fmt.Sprint(refusal.Error)}
	}
	if status >= http.StatusBadRequest {
		return &Error{Status: status, Message: strings.ToLower(http.StatusText(status))}
	}
	return nil
}
