// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/livekit/protocol/auth"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

const (
	// maxList is how long an answer that is a list may be, in bytes, and maxElements how many elements it may have, also such as nobody keeps: 100,000
	// rooms are 28 MB.
	maxList, maxElements = 32 << 20, 1 << 18
	// maxWeight is what the elements of one list that are kept may weigh, in bytes of memory: an element weighs its length and elementWeight.
	// 10,000 participants without tracks weigh 12 MB, and the rooms of 10,000 meetings with waiting rooms 16 MB.
	maxWeight, elementWeight = 16 << 20, 512
	// freeWeight is what a list may weigh that takes nothing of the memory for lists: some 20 participants.
	freeWeight = 128 << 10
	// weightOfBytes is how much more than its bytes an answer may weigh: LiveKit says 67 bytes about a participant whose identity and name are
	// short, and 256 about a room.
	weightOfBytes = 12
	// maxMessages is how many messages one element may have in it. A participant who sends all that there is has a hundred.
	maxMessages = 512
	// maxShort bounds a field that is kept of an element which is too long, in bytes.
	maxShort = 1 << 10
	// listMemory is the share of the memory for all lists that are read at the same time, heldMemory that for those of participants that requests
	// have in their hands, and oneHeldMemory that of one namespace. The list of 1,000 participants takes half a megabyte.
	listMemory, heldMemory, oneHeldMemory = 1. / 8, 1. / 4, 1. / 32
	// freeHeld is what a list in somebody's hands may take without being counted, in bytes: some 100 participants.
	freeHeld = 64 << 10
)

// listShares is the memory for lists, and its owners namespaces of MediaServers.
var listShares, listShare = newListShares(limit.FitsMemory(listMemory, 1, 8*maxWeight))

// heldLists is the memory for lists that have been read: a request may wait for another answer with one in its hands.
var heldLists = limit.NewMemoryBudget(heldMemory, oneHeldMemory)

func newListShares(total int) (shares *limit.Shares[string], each int) {
	each = min(total, max(maxWeight, total/4))
	return limit.NewShares[string](total, each), each
}

// errLongList is for one list, and says nothing about the server.
var errLongList = errors.New("the media server lists more than fits into the memory for one list")

// errManyLists is for one of many lists, which another moment may have the memory for.
var errManyLists = fault.Unavailable("The service has no memory left for so long lists of participants; try again in a moment").Because(engine.ErrNoMemory)

type listReader struct{}

// list reads the elements of an answer one after the other.
type list struct {
	element protoreflect.MessageDescriptor
	// maxLength is the greatest length of an element, in bytes. Of a longer one, and of one with too many messages, only these fields are
	// read; an element that has none of them is left out.
	maxLength uint64
	fields    []protowire.Number
	// take reads an element, and reports whether the element is kept. The bytes are used again.
	take func(element []byte, isShort bool) (kept bool, err error)
}

// readList makes a call of which the answer is a list.
func readList[Request any, Response proto.Message](
	ctx context.Context, c *client, grant auth.VideoGrant, verb func(context.Context, Request) (Response, error), request Request, l *list,
) error {
	_, err := call(context.WithValue(ctx, listReader{}, l), c, grant, verb, request)
	return err
}

func (l *list) read(ctx context.Context, namespace string, answer *http.Response) error {
	allowed := listShare
	if n := answer.ContentLength; n >= 0 {
		allowed = int(min(max(weightOfBytes*min(n, maxList), freeWeight), int64(listShare)))
	}
	if allowed > freeWeight {
		giveBack, err := listShares.TakeN(ctx, namespace, allowed)
		if err != nil {
			return err
		}
		defer giveBack()
	}
	return l.readElements(http.MaxBytesReader(nil, answer.Body, maxList), min(allowed, maxWeight))
}

// readElements reads what may weigh so much.
func (l *list) readElements(from io.Reader, allowed int) error {
	in := bufio.NewReader(from)
	var buffer []byte
	for elements := 0; allowed >= 0 && elements <= maxElements; {
		f, err := nextField(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		kept := false
		switch {
		case err != nil:
		case f.kind == protowire.BytesType && f.number == 1: // The first field is the list, of rooms as of participants.
			elements++
			buffer, kept, err = l.readElement(in, f.value, buffer)
		default:
			err = f.skip(in)
		}
		if err != nil {
			return err
		}
		if kept {
			allowed -= len(buffer) + elementWeight
		}
	}
	return errLongList
}

func (l *list) readElement(in *bufio.Reader, length uint64, buffer []byte) (_ []byte, kept bool, err error) {
	var short []byte
	if length <= l.maxLength {
		buffer = slices.Grow(buffer[:0], int(length))[:length]
		if _, err := io.ReadFull(in, buffer); err != nil {
			return nil, false, unexpectedEnd(err)
		}
		if messagesIn(l.element, buffer) <= maxMessages {
			kept, err = l.take(buffer, false)
			return buffer, kept, err
		}
		short, err = shortened(bytes.NewReader(buffer), l.fields)
	} else {
		short, err = shortened(io.LimitReader(in, int64(min(length, maxList+1))), l.fields)
	}
	if err == nil && len(short) > 0 {
		kept, err = l.take(short, true)
	}
	return short, kept, err
}

// numbersOf are the numbers of fields of a message.
func numbersOf(d protoreflect.MessageDescriptor, names ...protoreflect.Name) (numbers []protowire.Number) {
	for _, name := range names {
		numbers = append(numbers, d.Fields().ByName(name).Number())
	}
	return numbers
}

// field is the head of a field of an encoded message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	// value is a number, or the length of all else.
	value uint64
}

var errMalformed = errors.New("the answer is not of LiveKit's protocol")

// nextField reads the head of the next field. Its error is io.EOF after the last.
func nextField(in *bufio.Reader) (f field, err error) {
	tag, err := binary.ReadUvarint(in)
	if err != nil {
		return f, err
	}
	f.number, f.kind = protowire.DecodeTag(tag)
	if !f.number.IsValid() {
		return f, errMalformed
	}
	switch f.kind {
	case protowire.VarintType, protowire.BytesType:
		f.value, err = binary.ReadUvarint(in)
	case protowire.Fixed32Type:
		f.value = 4
	case protowire.Fixed64Type:
		f.value = 8
	default:
		err = errMalformed
	}
	return f, unexpectedEnd(err)
}

// skip skips what follows the head of a field.
func (f field) skip(in *bufio.Reader) error {
	if f.kind == protowire.VarintType {
		return nil
	}
	_, err := in.Discard(int(min(f.value, maxList+1)))
	return unexpectedEnd(err)
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// shortened reads a message, and returns those of its fields that have one of some numbers and are short.
func shortened(from io.Reader, numbers []protowire.Number) (short []byte, err error) {
	in := bufio.NewReader(from)
	for len(short) <= maxShort {
		f, err := nextField(in)
		switch {
		case errors.Is(err, io.EOF):
			return short, nil
		case err != nil:
			return nil, err
		case slices.Contains(numbers, f.number) && f.kind == protowire.VarintType:
			short = protowire.AppendVarint(protowire.AppendTag(short, f.number, f.kind), f.value)
		case slices.Contains(numbers, f.number) && f.kind == protowire.BytesType && f.value <= maxShort:
			short = protowire.AppendVarint(protowire.AppendTag(short, f.number, f.kind), f.value)
			value := make([]byte, f.value)
			if _, err := io.ReadFull(in, value); err != nil {
				return nil, unexpectedEnd(err)
			}
			short = append(short, value...)
		default:
			if err := f.skip(in); err != nil {
				return nil, err
			}
		}
	}
	return nil, errMalformed
}

// messagesIn counts the messages in an encoded message, at all depths, until there are more than maxMessages. An empty one takes two bytes
// here, and some hundred when it is decoded.
func messagesIn(d protoreflect.MessageDescriptor, data []byte) (n int) {
	for len(data) > 0 && n <= maxMessages {
		number, kind, length := protowire.ConsumeField(data)
		if length < 0 {
			return n
		}
		if of := d.Fields().ByNumber(number); of != nil && of.Message() != nil && kind == protowire.BytesType {
			_, _, head := protowire.ConsumeTag(data)
			inner, _ := protowire.ConsumeBytes(data[head:])
			n += 1 + messagesIn(of.Message(), inner)
		}
		data = data[length:]
	}
	return n
}
