// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"convene.dev/convene/internal/fault"
)

// MaxBody is the greatest length of a request's body, in bytes.
const MaxBody = 64 << 10

// maxDrain is how much of a body that is too large is read and forgotten, so that a backend that writes all before it reads
// gets to read the answer.
const maxDrain = 8 << 20

// Body reads the body of a request, of at most so many bytes.
func (q *Request) Body(most int64) ([]byte, error) {
	if q.HTTP.Body == nil || q.HTTP.Body == http.NoBody {
		return nil, nil
	}
	data, err := q.readLimited(most)
	q.HTTP.Trailer = nil // net/http bounds their bytes alone.
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, ErrTooSlow
	case err != nil:
		return nil, fault.Invalid("", "The body broke off; send it again").Because(err)
	case int64(len(data)) > most:
		if q.Record.Key == "" {
			q.Header().Set("Connection", "close") // No more is read of a caller without an API key.
		} else {
			_, _ = io.CopyN(io.Discard, q.HTTP.Body, maxDrain)
		}
		return nil, ErrTooLarge(most)
	}
	return data, nil
}

// readLimited reads no more than one byte too many, and holds no more memory than the body has: a buffer that grows takes
// up to four times as much.
func (q *Request) readLimited(most int64) ([]byte, error) {
	if n := q.HTTP.ContentLength; n >= 0 && n <= most {
		data := make([]byte, n)
		_, err := io.ReadFull(q.HTTP.Body, data)
		return data, err
	}
	return io.ReadAll(io.LimitReader(q.HTTP.Body, most+1))
}

// BodyError is the error of a body that cannot be read: err, or what is behind it if the body has a coding or a type that no body
// here has.
func (q *Request) BodyError(err error) error {
	if !fault.Is(err, fault.KindInvalid) || fault.As(err).Field != "" {
		return err
	}
	if coding := q.HTTP.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return &Error{
			Fault:  fault.Invalid("", "Content-Encoding %.40q is not supported; send the body without Content-Encoding", coding),
			Status: http.StatusUnsupportedMediaType, header: "Accept-Encoding", value: "identity",
		}
	}
	kind, _, _ := mime.ParseMediaType(q.HTTP.Header.Get("Content-Type"))
	if strings.HasPrefix(kind, "multipart/") || strings.HasSuffix(kind, "xml") {
		return &Error{
			Fault:  fault.Invalid("", "The body must be JSON, and not %.40q; send application/json", kind),
			Status: http.StatusUnsupportedMediaType, header: "Accept-Post", value: "application/json",
		}
	}
	return err
}
