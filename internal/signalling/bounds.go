// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	// maxText bounds a name or an identifier, in bytes, and maxList the elements of most lists. livekit-client sends far less.
	maxText, maxList = 256, 16
)

// InvalidError is why something that a browser sent is not passed on.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

var errMalformed = invalid("this is not a message of LiveKit's protocol")

// numbersOf are the numbers of fields of a message.
func numbersOf(m proto.Message, names ...protoreflect.Name) (numbers []protowire.Number) {
	for _, name := range names {
		numbers = append(numbers, m.ProtoReflect().Descriptor().Fields().ByName(name).Number())
	}
	return numbers
}

// only leaves of an encoded message the fields that have one of some numbers, at most so many: an empty message takes two bytes here, and
// a hundred when it is decoded. Its error is an InvalidError.
func only(numbers []protowire.Number, data []byte, most int) (kept []byte, err error) {
	for count := 0; len(data) > 0; {
		number, _, length := protowire.ConsumeField(data)
		if length < 0 {
			return nil, errMalformed
		}
		if slices.Contains(numbers, number) {
			if count++; count > most {
				return nil, invalid("a message has more than %d elements", most)
			}
			kept = append(kept, data[:length]...)
		}
		data = data[length:]
	}
	return kept, nil
}

// bounded checks all texts and lists of a message, and of the messages in it. Its error is an InvalidError.
func bounded(m protoreflect.Message, maxList int) (err error) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if !field.IsList() {
			err = boundedValue(field, value, maxList)
			return err == nil
		}
		list := value.List()
		if list.Len() > maxList {
			err = invalid("%s has more than %d elements", field.Name(), maxList)
		}
		for i := 0; i < list.Len() && err == nil; i++ {
			err = boundedValue(field, list.Get(i), maxList)
		}
		return err == nil
	})
	return err
}

func boundedValue(field protoreflect.FieldDescriptor, value protoreflect.Value, maxList int) error {
	switch field.Kind() {
	case protoreflect.MessageKind:
		if field.IsMap() {
			return invalid("%s is not expected", field.Name())
		}
		return bounded(value.Message(), maxList)
	case protoreflect.StringKind:
		if len(value.String()) > maxText {
			return invalid("%s is longer than %d bytes", field.Name(), maxText)
		}
	case protoreflect.BytesKind:
		return invalid("%s is not expected", field.Name())
	}
	return nil
}
