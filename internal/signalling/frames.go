// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"encoding/binary"
	"fmt"
)

// Close codes of WebSocket (RFC 6455, section 7.4.1).
const (
	closeProtocolError = 1002
	closeTooBig        = 1009
)

// closeError says with what code a connection is closed.
type closeError struct {
	code   uint16
	reason string
}

func (e *closeError) Error() string {
	return fmt.Sprintf("WebSocket closed with %d: %s", e.code, e.reason)
}

const (
	finalBit, reservedBits, opcodeBits = 0x80, 0x70, 0x0f
	maskBit, lengthBits                = 0x80, 0x7f
	controlOpcodes                     = 0x8
	maxControlPayload                  = 125
	maskLength                         = 4
	// maxHeader is the length of the longest header: two bytes, eight of length, the mask.
	maxHeader = 2 + 8 + maskLength
)

// frames follows the frames (RFC 6455, section 5.2) that a browser sends, in pieces of any size, and refuses messages that
// are too long. It keeps nothing but the header of the current frame.
type frames struct {
	// maxMessage bounds a message over all its fragments, in bytes.
	maxMessage uint64
	header     [maxHeader]byte
	headerLen  int
	// payload is what is to come of the current frame, and message what the current message has so far.
	payload, message uint64
}

// follow reads the next piece of the stream. Its error is a closeError.
func (f *frames) follow(piece []byte) error {
	for len(piece) > 0 {
		if f.payload > 0 {
			n := min(f.payload, uint64(len(piece)))
			f.payload -= n
			piece = piece[n:]
			continue
		}
		f.header[f.headerLen] = piece[0]
		f.headerLen++
		piece = piece[1:]
		if f.headerLen < 2 || f.headerLen < headerLength(f.header[1]) {
			continue
		}
		if err := f.begin(); err != nil {
			return err
		}
		f.headerLen = 0
	}
	return nil
}

// headerLength tells the length of a client's header by its second byte.
func headerLength(second byte) int {
	switch second & lengthBits {
	case 126:
		return 2 + 2 + maskLength
	case 127:
		return 2 + 8 + maskLength
	}
	return 2 + maskLength
}

// begin looks at a whole header.
func (f *frames) begin() error {
	first, second := f.header[0], f.header[1]
	switch second & lengthBits {
	case 126:
		f.payload = uint64(binary.BigEndian.Uint16(f.header[2:]))
	case 127:
		f.payload = binary.BigEndian.Uint64(f.header[2:])
	default:
		f.payload = uint64(second & lengthBits)
	}
	final, control := first&finalBit != 0, first&opcodeBits >= controlOpcodes
	switch {
	case first&reservedBits != 0:
		return &closeError{closeProtocolError, "no extension was agreed on"}
	case second&maskBit == 0:
		return &closeError{closeProtocolError, "frames of a client must be masked"}
	case control && (!final || f.payload > maxControlPayload):
		return &closeError{closeProtocolError, "a control frame must be short and whole"}
	case control:
		return nil
	case f.payload > f.maxMessage-f.message:
		return &closeError{closeTooBig, fmt.Sprintf("a message must be at most %d bytes long", f.maxMessage)}
	}
	f.message += f.payload
	if final {
		f.message = 0
	}
	return nil
}

// closeFrame is what a server sends last.
func (e *closeError) closeFrame() []byte {
	frame := []byte{finalBit | 0x8, byte(2 + len(e.reason))}
	return append(binary.BigEndian.AppendUint16(frame, e.code), e.reason...)
}
