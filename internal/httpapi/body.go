// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"convene.dev/convene/internal/fault"
)

const (
	// maxBody is the size in bytes over which a body is refused.
	maxBody = 64 << 10
	// maxDrain is how much of a body that is too large is read and forgotten, so that a client that writes all before
	// it reads gets to read the answer.
	maxDrain = 8 << 20
)

// object reads the body and the JSON object in it. No body at all is an empty object.
func (c *call) object() (object, error) {
	if c.r.Body == nil || c.r.Body == http.NoBody {
		return object{}, nil
	}
	data, err := c.readBody()
	if err != nil {
		return object{}, err
	}
	return parseObject(data)
}

func (c *call) readBody() ([]byte, error) {
	// The clock of the wire, not that of decisions. A writer that knows no deadlines has none to miss. It stays for the
	// rest of the call, which must be over by then too; the server sets another one for the next request.
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(c.timeout))
	data, err := c.readLimited()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errTooSlow
	case err != nil:
		return nil, fault.Invalid("", "The body broke off; send it again").Because(err)
	case len(data) > maxBody:
		_, _ = io.CopyN(io.Discard, c.r.Body, maxDrain)
		return nil, errTooLarge
	}
	return data, nil
}

// readLimited reads no more than one byte too many.
func (c *call) readLimited() ([]byte, error) {
	if n := c.r.ContentLength; n >= 0 && n <= maxBody {
		data := make([]byte, n)
		_, err := io.ReadFull(c.r.Body, data)
		return data, err
	}
	return io.ReadAll(io.LimitReader(c.r.Body, maxBody+1))
}
