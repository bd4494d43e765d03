// SPDX-License-Identifier: Apache-2.0

package httpapi

import "net/http"

// answer is what a handler answers with.
type answer interface {
	// head sets headers and returns the status.
	head(http.Header) int
	body(*encoder)
}

var typeJSON = []string{"application/json"}

// success is the head of nearly every answer that is not an error.
type success struct{}

func (success) head(h http.Header) int {
	h["Content-Type"] = typeJSON
	return http.StatusOK
}

// single is an answer of one string property, as typed clients read it.
type single struct {
	success
	name, value string
}

func (s single) body(e *encoder) {
	e.raw(`{"`)
	e.raw(s.name)
	e.raw(`":`)
	e.string(s.value)
	e.raw(`}`)
}

// send writes the answer. Nothing can be said any more when the client does not take it.
func (c *call) send(a answer) {
	status := a.head(c.w.Header())
	c.status = status
	e := newEncoder(c.w, status)
	defer func() {
		c.begun = e.begun
		e.release()
	}()
	a.body(e)
	e.flush()
}
