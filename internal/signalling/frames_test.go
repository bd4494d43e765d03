// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gobwas/ws"
)

const final, masked = 0x80, 0x80

// kinds of frames, as the first byte has them.
const binaryFrame, textFrame, continuation, closeFrame, pingFrame = byte(ws.OpBinary), byte(ws.OpText), byte(ws.OpContinuation), byte(ws.OpClose), byte(ws.OpPing)

// frame is one of a client, with x as its payload.
func frame(first byte, length int) []byte {
	return ws.MustCompileFrame(ws.MaskFrameInPlaceWith(ws.Frame{
		Header:  ws.Header{Fin: first&final != 0, Rsv: first >> 4 & 7, OpCode: ws.OpCode(first & 0x0f), Length: int64(length)},
		Payload: bytes.Repeat([]byte("x"), length),
	}, [4]byte{1, 2, 3, 4}))
}

func join(frames ...[]byte) []byte { return bytes.Join(frames, nil) }

// pieces reads so many bytes at once.
type pieces struct {
	io.Reader
	size int
}

func (p pieces) Read(into []byte) (int, error) { return p.Reader.Read(into[:min(p.size, len(into))]) }

// heard is what the gateway reads from a stream.
type heard struct {
	messages, controls []string
	// most is how many bytes were taken for one message at once, and held how many were not given back.
	most, held int
	// code is the code with which the connection is closed; zero is for none.
	code ws.StatusCode
}

func hear(t testing.TB, stream []byte, size int) (h heard) {
	m := newMessages(pieces{bytes.NewReader(stream), size})
	m.control = func(kind ws.OpCode, payload []byte) error {
		h.controls = append(h.controls, string(byte(kind))+string(payload))
		return nil
	}
	m.hurry = func() func() { return func() {} }
	m.take = func(bytes int) (func(), error) {
		h.most = max(h.most, bytes)
		h.held += bytes
		return func() { h.held -= bytes }, nil
	}
	for {
		message, done, err := m.next()
		if err != nil {
			if refused := closeErrorOf(err); refused != nil {
				h.code = refused.code
			} else if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			return h
		}
		h.messages = append(h.messages, string(message))
		done()
	}
}

func TestMessages(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	ping := string(pingFrame) + x(5)
	huge := binary.BigEndian.AppendUint64([]byte{final | binaryFrame, masked | 127}, 1<<63)
	for _, tc := range []struct {
		reason string
		stream []byte
		want   heard
	}{
		{"short messages", join(frame(final|binaryFrame, 5), frame(final|binaryFrame, 125), frame(final|binaryFrame, 126)), heard{messages: []string{x(5), x(125), x(126)}}},
		{"a message of one buffer", frame(final|binaryFrame, bufferSize), heard{messages: []string{x(bufferSize)}}},
		{"a message that is longer", frame(final|binaryFrame, bufferSize+1), heard{messages: []string{x(bufferSize + 1)}}},
		{"a long message that does not end", frame(final|binaryFrame, bufferSize+1)[:bufferSize], heard{}},
		{"the longest message", frame(final|binaryFrame, maxMessage), heard{messages: []string{x(maxMessage)}}},
		{"one byte more", frame(final|binaryFrame, maxMessage+1), heard{code: ws.StatusMessageTooBig}},
		{"the greatest length", append(huge, 1, 2, 3, 4), heard{code: ws.StatusMessageTooBig}},
		{"fragments", join(frame(binaryFrame, 5), frame(continuation, 4), frame(final|continuation, 1), frame(final|binaryFrame, 3)), heard{messages: []string{x(10), x(3)}}},
		{"fragments of the greatest length, and an empty one", join(frame(binaryFrame, maxMessage), frame(final|pingFrame, 5), frame(final|continuation, 0)), heard{messages: []string{x(maxMessage)}, controls: []string{ping}}},
		{"fragments that are too long together", join(frame(binaryFrame, maxMessage-1), frame(final|continuation, 2)), heard{code: ws.StatusMessageTooBig}},
		{"a ping", join(frame(final|pingFrame, 5), frame(final|binaryFrame, 1)), heard{messages: []string{x(1)}, controls: []string{ping}}},
		{"a ping between fragments", join(frame(binaryFrame, 5), frame(final|pingFrame, 5), frame(final|continuation, 5)), heard{messages: []string{x(10)}, controls: []string{ping}}},
		{"the end", frame(final|closeFrame, 0), heard{controls: []string{string(closeFrame)}}},
		{"a long ping", frame(final|pingFrame, 126), heard{code: ws.StatusProtocolError}},
		{"half a ping", frame(pingFrame, 10), heard{code: ws.StatusProtocolError}},
		{"text", frame(final|textFrame, 10), heard{code: ws.StatusUnsupportedData}},
		{"a frame of another kind", frame(final|0x3, 10), heard{code: ws.StatusProtocolError}},
		{"a compressed message", frame(final|0x40|binaryFrame, 10), heard{code: ws.StatusProtocolError}},
		{"without a mask", []byte{final | binaryFrame, 3, 'a', 'b', 'c', 0}, heard{code: ws.StatusProtocolError}},
		{"a continuation of nothing", frame(final|continuation, 10), heard{code: ws.StatusProtocolError}},
		{"a message in a message", join(frame(binaryFrame, 1), frame(final|binaryFrame, 1)), heard{code: ws.StatusProtocolError}},
	} {
		for _, size := range []int{1, 3, 4096, len(tc.stream)} {
			got := hear(t, tc.stream, size)
			if !slices.Equal(got.messages, tc.want.messages) || !slices.Equal(got.controls, tc.want.controls) ||
				got.held != 0 || got.code != tc.want.code {
				t.Errorf("%s, in pieces of %d: closed with %d after %d messages and %d controls, %d bytes held", tc.reason, size,
					got.code, len(got.messages), len(got.controls), got.held)
			}
		}
	}
}

// TestMemoryFollowsWhatArrives: a browser that names a length has no memory before it sends a part of it.
func TestMemoryFollowsWhatArrives(t *testing.T) {
	for _, tc := range []struct{ length, arrived, most int }{
		{maxMessage, 0, 0}, {maxMessage, bufferSize - 1, 0}, {maxMessage, bufferSize, middleSize}, {maxMessage, middleSize - 1, middleSize},
		{maxMessage, middleSize, maxMessage}, {maxMessage, maxMessage, maxMessage}, {bufferSize + 1, bufferSize, bufferSize + 1},
		{2 * middleSize, middleSize, 2 * middleSize},
	} {
		stream := frame(final|binaryFrame, tc.length)
		if got := hear(t, stream[:len(stream)-tc.length+tc.arrived], bufferSize); got.most != tc.most || got.held != 0 {
			t.Errorf("of %d bytes %d have arrived, and %d are taken, want %d; %d are held", tc.length, tc.arrived, got.most, tc.most, got.held)
		}
	}
}

// FuzzMessages: in pieces of any size a stream is read as in one piece, and no message is too long.
func FuzzMessages(f *testing.F) {
	f.Add(frame(final|binaryFrame, 1001), uint8(3))
	f.Add(join(frame(binaryFrame, 500), frame(final|pingFrame, 2), frame(final|continuation, 100)), uint8(1))
	f.Add([]byte{final | binaryFrame, masked | 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, uint8(2))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		whole, inPieces := hear(t, stream, len(stream)+1), hear(t, stream, int(size)+1)
		if inPieces.code != whole.code || !slices.Equal(inPieces.messages, whole.messages) || !slices.Equal(inPieces.controls, whole.controls) {
			t.Errorf("in pieces of %d: %d, in one: %d", size+1, inPieces.code, whole.code)
		}
		for _, message := range whole.messages {
			if len(message) > maxMessage {
				t.Errorf("a message has %d bytes", len(message))
			}
		}
	})
}
