// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"convene.dev/convene/api/v1alpha1"
)

// leftOut is an object, or a state of one, that the caches do not take.
type leftOut struct {
	metav1.PartialObjectMetadata
	cause error
	// isReadable says that there is no memory for it, told that its status says so.
	isReadable, told bool
}

// partialList is a list without its unreadable objects.
type partialList struct {
	runtime.Object
	without []*leftOut
}

// tolerant decodes objects of Convene's kinds one by one where they cannot be decoded together.
type tolerant struct{ runtime.NegotiatedSerializer }

func (t tolerant) DecoderToVersion(d runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return tolerantDecoder{t.NegotiatedSerializer.DecoderToVersion(d, version)}
}

type tolerantDecoder struct{ runtime.Decoder }

// Decode decodes into an object that is given, or else returns a new one: an *leftOut or a *partialList where the Go type cannot hold
// what is there. A list that is given lacks its unreadable objects. An unreadable object for which another is given is an error.
func (d tolerantDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	decode := func(data []byte) (runtime.Object, *schema.GroupVersionKind, error) {
		if into != nil {
			reflect.ValueOf(into).Elem().SetZero() // As controller-runtime does: decoding alone would leave what was there.
		}
		return d.Decoder.Decode(data, defaults, into)
	}
	o, kind, cause := decode(data)
	if cause == nil {
		return o, kind, nil
	}
	var raw struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        json.RawMessage   `json:"metadata"`
		Items           []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(data, &raw) != nil || raw.GroupVersionKind().GroupVersion() != v1alpha1.GroupVersion {
		return nil, kind, cause
	}
	if !strings.HasSuffix(raw.Kind, "List") {
		return d.unreadable(data, kind, into, cause)
	}
	items, without := make([]runtime.Object, 0, len(raw.Items)), []*leftOut(nil)
	for _, data := range raw.Items {
		item, _, err := d.Decode(data, nil, nil)
		if err != nil {
			return nil, kind, err
		}
		if u, ok := item.(*leftOut); ok {
			without = append(without, u)
		} else {
			items = append(items, item)
		}
	}
	raw.Items = nil
	empty, err := json.Marshal(raw)
	if err != nil {
		return nil, kind, err
	}
	if o, kind, err = decode(empty); err != nil {
		return nil, kind, err
	}
	if err := meta.SetList(o, items); err != nil {
		return nil, kind, err
	}
	if into != nil {
		return o, kind, nil
	}
	return &partialList{o, without}, kind, nil
}

func (tolerantDecoder) unreadable(data []byte, kind *schema.GroupVersionKind, into runtime.Object, cause error) (runtime.Object, *schema.GroupVersionKind, error) {
	u := &leftOut{cause: cause}
	if err := json.Unmarshal(data, &u.PartialObjectMetadata); err != nil {
		return nil, kind, cause
	}
	if into == nil {
		return u, kind, nil
	}
	return nil, kind, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: fmt.Sprintf("%s %s/%s cannot be read: %s", u.Kind, u.Namespace, u.Name, shortened(cause)),
	}}
}

// shortened is the text of an error of decoding, which may quote all of a value.
func shortened(cause error) string {
	const most = 200
	text := cause.Error()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
