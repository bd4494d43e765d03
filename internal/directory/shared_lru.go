// SPDX-License-Identifier: Apache-2.0

package directory

import "github.com/hashicorp/golang-lru/v2/simplelru"

// sharedLRU remembers so many things of all namespaces. Where there are more, the namespace that has the most loses its oldest: what one
// deletes by the thousand has no other namespace's forgotten.
type sharedLRU[K comparable, V any] struct {
	most, size int
	of         map[string]*simplelru.LRU[K, V]
}

func newSharedLRU[K comparable, V any](most int) *sharedLRU[K, V] {
	return &sharedLRU[K, V]{most: most, of: map[string]*simplelru.LRU[K, V]{}}
}

func (l *sharedLRU[K, V]) add(namespace string, key K, value V) {
	of := l.of[namespace]
	if of == nil {
		var err error
		if of, err = simplelru.NewLRU[K, V](l.most, nil); err != nil {
			panic(err) // Its size is not positive.
		}
		l.of[namespace] = of
	}
	before := of.Len()
	of.Add(key, value)
	if l.size += of.Len() - before; l.size <= l.most {
		return
	}
	largest, length := namespace, of.Len()-1 // Of two that have the same, the other one.
	for name, other := range l.of {
		if name != namespace && other.Len() > length {
			largest, length = name, other.Len()
		}
	}
	l.of[largest].RemoveOldest()
	if l.size--; l.of[largest].Len() == 0 {
		delete(l.of, largest)
	}
}

// find does not keep what was found any longer.
func (l *sharedLRU[K, V]) find(namespace string, key K) (value V, ok bool) {
	if of := l.of[namespace]; of != nil {
		return of.Peek(key)
	}
	return value, false
}
