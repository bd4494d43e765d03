// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
)

// statusTryAgainLater is a close code (IANA WebSocket Close Code Number Registry).
const statusTryAgainLater ws.StatusCode = 1013

// closeError says with what code a connection is closed.
type closeError struct {
	code   ws.StatusCode
	reason string
}

func (e *closeError) Error() string {
	return fmt.Sprintf("WebSocket closed with %d: %s", e.code, e.reason)
}

// closeErrorOf returns what the browser is told about an error. It is nil if the browser has gone.
func closeErrorOf(err error) *closeError {
	var refused *closeError
	var invalid *InvalidError
	var protocol ws.ProtocolError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &invalid):
		return &closeError{ws.StatusPolicyViolation, invalid.Reason}
	case errors.As(err, &protocol):
		return &closeError{ws.StatusProtocolError, protocol.Error()}
	case errors.Is(err, wsutil.ErrMessageTooLarge), errors.Is(err, ws.ErrHeaderLengthMSB):
		return &closeError{ws.StatusMessageTooBig, fmt.Sprintf("a message must be at most %d bytes long", maxMessage)}
	}
	return nil
}

// messages reads the messages of a browser. Between two messages it holds one buffer.
type messages struct {
	reader *wsutil.Reader
	// control gets the frames about the connection.
	control func(ws.OpCode, []byte) error
	// take takes memory for so many bytes of a message that is longer than a buffer, and may wait for it.
	take func(bytes int) (giveBack func(), err error)
	// hurry is called when such a message begins, and what it returns when the message is there.
	hurry func() (arrived func())
}

func newMessages(from io.Reader) *messages {
	m := &messages{}
	m.reader = &wsutil.Reader{
		Source: bufio.NewReaderSize(from, bufferSize), State: ws.StateServerSide, MaxMessageSize: maxMessage,
		OnIntermediate: func(h ws.Header, body io.Reader) error { return m.passControl(h.OpCode, body) },
	}
	return m
}

// next returns the next message. Once the message has been used, done must be called.
func (m *messages) next() (message []byte, done func(), err error) {
	for {
		header, err := m.reader.NextFrame()
		switch {
		case err != nil:
			return nil, nil, err
		case header.OpCode.IsControl():
			if err := m.passControl(header.OpCode, m.reader); err != nil {
				return nil, nil, err
			}
		case header.OpCode != ws.OpBinary:
			return nil, nil, &closeError{ws.StatusUnsupportedData, "messages must be binary"}
		case header.Fin && header.Length <= bufferSize:
			message, err = io.ReadAll(m.reader)
			return message, func() {}, err
		case header.Fin:
			return m.long(int(header.Length))
		default:
			return m.long(maxMessage)
		}
	}
}

// long reads a message of at most so many bytes, which does not fit into a buffer. A length that the browser only names takes no memory: a
// message fills a buffer, then middleSize, before there is memory for all of it. What is taken for a part is given back when there is memory
// for the next, so that messages never wait for each other.
func (m *messages) long(most int) (message []byte, done func(), err error) {
	done = func() {}
	defer m.hurry()()
	for message = make([]byte, 0, bufferSize); ; {
		if len(message) == cap(message) && len(message) < most {
			size := most
			if len(message) < middleSize {
				size = min(most, middleSize)
			}
			giveBack, err := m.take(size)
			if err != nil {
				done()
				return nil, nil, err
			}
			message = append(make([]byte, 0, size), message...)
			done()
			done = giveBack
		}
		n, err := m.reader.Read(message[len(message):cap(message)]) // The end of a message that has its greatest length needs no space.
		message = message[:len(message)+n]
		switch {
		case errors.Is(err, io.EOF):
			return message, done, nil
		case err != nil:
			done()
			return nil, nil, err
		}
	}
}

func (m *messages) passControl(kind ws.OpCode, body io.Reader) error {
	payload, err := io.ReadAll(body) // At most 125 bytes.
	if err != nil {
		return err
	}
	return m.control(kind, payload)
}

// clientFrame is a whole frame as a client sends it. A mask of zeros is enough: a mask protects proxies from bytes that a page
// has chosen, and these are built here.
func clientFrame(kind ws.OpCode, payload []byte) []byte {
	return ws.MustCompileFrame(ws.MaskFrameInPlaceWith(ws.NewFrame(kind, true, payload), [4]byte{}))
}

// lastFrames returns what the browser gets last. livekit-client ignores close codes: it would connect again, and send the same message
// again. LiveKit's leave message stops it, and the reason in that message tells the page to ask for a reload.
func (e *closeError) lastFrames() []byte {
	end := ws.MustCompileFrame(ws.NewCloseFrame(ws.NewCloseFrameBody(e.code, e.reason)))
	if e.code == statusTryAgainLater {
		return end
	}
	leave, err := proto.Marshal(&lk.SignalResponse{Message: &lk.SignalResponse_Leave{Leave: &lk.LeaveRequest{
		Reason: lk.DisconnectReason_STATE_MISMATCH, Action: lk.LeaveRequest_DISCONNECT,
	}}})
	if err != nil {
		return end
	}
	return append(ws.MustCompileFrame(ws.NewBinaryFrame(leave)), end...)
}
