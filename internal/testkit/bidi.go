// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// bidi is a connection that drives a browser by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/).
type bidi struct {
	socket *websocket.Conn
	// done ends when the connection does.
	done context.Context

	mu      sync.Mutex
	last    int
	waiting map[int]chan bidiMessage
	console []string
}

// bidiMessage is an answer, or an event when it has no id.
type bidiMessage struct {
	ID      int             `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`
	Message string          `json:"message"`
	Method  string          `json:"method"`
	Params  struct {
		Level string `json:"level"`
		Text  string `json:"text"`
	} `json:"params"`
}

func dialBidi(ctx context.Context, url string) (*bidi, error) {
	socket, response, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	if response.Body != nil {
		_ = response.Body.Close()
	}
	socket.SetReadLimit(-1)
	done, end := context.WithCancel(context.Background())
	b := &bidi{socket: socket, done: done, waiting: map[int]chan bidiMessage{}}
	go b.read(end)
	if err := b.call(ctx, "session.new", map[string]any{"capabilities": map[string]any{}}, nil); err != nil {
		return nil, err
	}
	return b, b.call(ctx, "session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil)
}

func (b *bidi) read(end context.CancelFunc) {
	defer end()
	for {
		var m bidiMessage
		if err := wsjson.Read(b.done, b.socket, &m); err != nil {
			return
		}
		b.mu.Lock()
		if m.Method == "log.entryAdded" {
			b.console = append(b.console, m.Params.Level+": "+m.Params.Text)
		}
		answer := b.waiting[m.ID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// call sends a command and decodes its result into result, unless that is nil.
func (b *bidi) call(ctx context.Context, method string, params map[string]any, result any) error {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	answer := make(chan bidiMessage, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.waiting[id] = answer
	b.mu.Unlock()
	if err := wsjson.Write(ctx, b.socket, map[string]any{"id": id, "method": method, "params": params}); err != nil {
		return err
	}
	select {
	case m := <-answer:
		if m.Error != "" {
			return fmt.Errorf("%s: %s: %s", method, m.Error, m.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-b.done.Done():
		return errors.New("the browser is gone")
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// evaluated is the result of script.evaluate: a string, or what was thrown.
type evaluated struct {
	Result struct {
		Value string `json:"value"`
	} `json:"result"`
	ExceptionDetails *struct {
		Text string `json:"text"`
	} `json:"exceptionDetails"`
}

// evaluate returns the value of a JavaScript expression as JSON; a promise is awaited.
func (b *bidi) evaluate(ctx context.Context, tab, expression string) (string, error) {
	var got evaluated
	err := b.call(ctx, "script.evaluate", map[string]any{
		"expression": "(async () => JSON.stringify(await (" + expression + ")) ?? 'null')()", "awaitPromise": true,
		"target": map[string]any{"context": tab},
	}, &got)
	if err == nil && got.ExceptionDetails != nil {
		err = errors.New(got.ExceptionDetails.Text)
	}
	return got.Result.Value, err
}

func (b *bidi) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = b.call(ctx, "session.end", map[string]any{}, nil)
	_ = b.socket.CloseNow()
}
