// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/limit"
)

const (
	// allObjects is the part of a manager's memory that Convene's objects may take, and oneNamespace the part that those of one namespace may:
	// with the limits of the chart 153 and 57 MB. 10,000 meetings of ten people take 42 MB.
	allObjects, oneNamespace = 1. / 3, 1. / 8
	// objectOverhead is what a cached object takes beside its fields, in bytes: indexes, and the queues of controllers.
	objectOverhead = 1 << 10
	// fullFrom is a part of the memory of a namespace. One that has taken it gets no new Meetings by the REST API, so that those it has can grow.
	fullFrom = 0.9
)

// RaiseMemory advises an operator whose objects have too little memory.
const RaiseMemory = "raise the managers' memory limit (resources.limits.memory of the chart)"

// MaxConferenceConfigs and MaxMediaServers are how many objects of a kind managers take of one namespace. Each costs far more than the
// object itself: connections, watches of Secrets, and calls every second.
const (
	MaxConferenceConfigs = 100
	MaxMediaServers      = 32
)

// shares bound what the objects of namespaces take of the memory. It is safe for concurrent use.
type shares struct {
	memory *limit.Budget  // in bytes, by namespace
	most   map[string]int // objects of one namespace, by kind

	mu    sync.Mutex
	kinds map[string]*held
}

// held are the objects of a kind that have been let in.
type held struct {
	objects map[types.NamespacedName]heldObject
	counts  map[string]int // by namespace
	// listing counts the lists of all objects.
	listing int
}

type heldObject struct {
	bytes   int
	listing int // The last list that had the object.
}

func newShares(memory *limit.Budget) *shares {
	return &shares{
		memory: memory, kinds: map[string]*held{},
		most: map[string]int{"ConferenceConfig": MaxConferenceConfigs, "MediaServer": MaxMediaServers},
	}
}

func (s *shares) of(kind string) *held {
	if s.kinds[kind] == nil {
		s.kinds[kind] = &held{objects: map[types.NamespacedName]heldObject{}, counts: map[string]int{}}
	}
	return s.kinds[kind]
}

// take lets an object in, or its next state, or says why that is left out. Which objects of a namespace that has too many are let in is not
// promised; those that are let in stay.
func (s *shares) take(kind string, name types.NamespacedName, bytes int) (full string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(kind)
	before, known := of.objects[name]
	if most, counted := s.most[kind]; counted && !known && of.counts[name.Namespace] >= most {
		return fmt.Sprintf("Namespace %q has more than %d %ss, and Convene takes no more of one; delete one, or move this one to another namespace", name.Namespace, most, kind)
	}
	if !s.memory.Change(name.Namespace, bytes-before.bytes) {
		all, each := s.memory.Size()
		return fmt.Sprintf("Convene's objects take more memory than they may, which is %d MB for those of namespace %q and %d MB for all; "+
			"delete some, or "+RaiseMemory,
			each>>20, name.Namespace, all>>20)
	}
	of.objects[name] = heldObject{bytes, of.listing}
	if !known {
		of.counts[name.Namespace]++
	}
	return ""
}

// stay takes in that the last state of an object is kept.
func (s *shares) stay(kind string, name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(kind)
	if object, known := of.objects[name]; known {
		of.objects[name] = heldObject{object.bytes, of.listing}
	}
}

// giveBack takes in that an object has gone.
func (s *shares) giveBack(kind string, name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.of(kind), name)
}

func (s *shares) drop(of *held, name types.NamespacedName) {
	object, known := of.objects[name]
	if !known {
		return
	}
	delete(of.objects, name)
	if of.counts[name.Namespace]--; of.counts[name.Namespace] == 0 {
		delete(of.counts, name.Namespace)
	}
	s.memory.Change(name.Namespace, -object.bytes)
}

// beginList takes in that all objects of a kind are about to be read, and endList that they have been: others have gone.
func (s *shares) beginList(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(kind).listing++
}

func (s *shares) endList(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(kind)
	for name, object := range of.objects {
		if object.listing != of.listing {
			s.drop(of, name)
		}
	}
}

// isFull reports whether a namespace has hardly any memory left.
func (s *shares) isFull(namespace string) bool {
	_, each := s.memory.Size()
	return float64(s.memory.Left(namespace)) < (1-fullFrom)*float64(each)
}

// sizeOf is how much memory a value takes, in bytes, beside the value itself.
func sizeOf(v reflect.Value) (bytes int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return 0
		}
		return int(v.Elem().Type().Size()) + sizeOf(v.Elem())
	case reflect.Slice:
		bytes = v.Cap() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			bytes += sizeOf(v.Index(i))
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			bytes += int(key.Type().Size()) + int(value.Type().Size()) + sizeOf(key) + sizeOf(value)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return 0 // All share their zones.
		}
		for i := range v.NumField() {
			bytes += sizeOf(v.Field(i))
		}
	}
	return bytes
}

// weightOf is what an object takes in a cache, in bytes.
func weightOf(o any) int { return objectOverhead + sizeOf(reflect.ValueOf(o)) }
