// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// listeners are told the names of what has changed.
type listeners struct {
	mu  sync.Mutex
	all []*func(types.NamespacedName)
}

// add has f called until stop is called.
func (l *listeners) add(f func(types.NamespacedName)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	added := &f
	l.all = append(l.all, added)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(slices.Clone(l.all), func(one *func(types.NamespacedName)) bool { return one == added })
	}
}

func (l *listeners) tell(names ...types.NamespacedName) {
	l.mu.Lock()
	all := l.all
	l.mu.Unlock()
	for _, f := range all {
		for _, name := range names {
			(*f)(name)
		}
	}
}
