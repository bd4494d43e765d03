// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

const text, continuation, ping = 0x1, 0x0, 0x9

// frame is one of a client.
func frame(first byte, length int) []byte {
	var f []byte
	switch {
	case length < 126:
		f = []byte{first, maskBit | byte(length)}
	case length < 1<<16:
		f = binary.BigEndian.AppendUint16([]byte{first, maskBit | 126}, uint16(length))
	default:
		f = binary.BigEndian.AppendUint64([]byte{first, maskBit | 127}, uint64(length))
	}
	return append(append(f, 1, 2, 3, 4), make([]byte, length)...)
}

func join(frames ...[]byte) []byte { return bytes.Join(frames, nil) }

// codeOf follows a stream in pieces of a size, and says with what code it is closed; zero is for not at all.
func codeOf(t testing.TB, stream []byte, size int) uint16 {
	f := &frames{maxMessage: 1000}
	for len(stream) > 0 {
		n := min(size, len(stream))
		if err := f.follow(stream[:n]); err != nil {
			refused := (*closeError)(nil)
			if !errors.As(err, &refused) {
				t.Fatal(err)
			}
			return refused.code
		}
		stream = stream[n:]
	}
	return 0
}

func TestFrames(t *testing.T) {
	huge := binary.BigEndian.AppendUint64([]byte{finalBit | text, maskBit | 127}, 1<<63)
	for _, tc := range []struct {
		reason string
		stream []byte
		want   uint16
	}{
		{"short messages", join(frame(finalBit|text, 5), frame(finalBit|text, 125), frame(finalBit|text, 126)), 0},
		{"many messages that are longer together", bytes.Repeat(frame(finalBit|text, 900), 5), 0},
		{"the longest message", frame(finalBit|text, 1000), 0},
		{"one byte more", frame(finalBit|text, 1001), closeTooBig},
		{"a length of 64 bits", frame(finalBit|text, 1<<16), closeTooBig},
		{"the greatest length", append(huge, 1, 2, 3, 4), closeTooBig},
		{"fragments", join(frame(text, 500), frame(continuation, 400), frame(finalBit|continuation, 100), frame(finalBit|text, 1000)), 0},
		{"fragments that are too long together", join(frame(text, 500), frame(continuation, 400), frame(finalBit|continuation, 101)), closeTooBig},
		{"a ping between fragments", join(frame(text, 500), frame(finalBit|ping, 125), frame(finalBit|continuation, 500)), 0},
		{"pings do not hide how long a message is", join(frame(text, 900), frame(finalBit|ping, 1), frame(continuation, 200)), closeTooBig},
		{"a long ping", frame(finalBit|ping, 126), closeProtocolError},
		{"half a ping", frame(ping, 10), closeProtocolError},
		{"a compressed message", frame(finalBit|0x40|text, 10), closeProtocolError},
		{"without a mask", []byte{finalBit | text, 3, 'a', 'b', 'c', 0}, closeProtocolError},
		{"empty frames", bytes.Repeat(frame(text, 0), 100), 0},
	} {
		for _, size := range []int{1, 3, 4096, len(tc.stream)} {
			if got := codeOf(t, tc.stream, size); got != tc.want {
				t.Errorf("%s, in pieces of %d: %d, want %d", tc.reason, size, got, tc.want)
			}
		}
	}
}

// FuzzFrames: in pieces of any size a stream is judged as in one piece, and no message that is let through is too long.
func FuzzFrames(f *testing.F) {
	f.Add(frame(finalBit|text, 1001), uint8(3))
	f.Add(join(frame(text, 500), frame(finalBit|ping, 2), frame(finalBit|continuation, 100)), uint8(1))
	f.Add([]byte{finalBit | text, maskBit | 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, uint8(2))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		whole := codeOf(t, stream, len(stream)+1)
		if pieces := codeOf(t, stream, int(size)+1); pieces != whole {
			t.Errorf("in pieces of %d: %d, in one: %d", size+1, pieces, whole)
		}
	})
}
