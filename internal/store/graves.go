// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// remember is how long a page that was offline when its meeting ended can still be told where the others went, and
// maxGraves of how many meetings: backends that make and delete them by the thousand cost no more memory than that.
const (
	remember  = 10 * time.Minute
	maxGraves = 10_000
)

// graves remembers Meetings whose objects are gone.
type graves struct {
	now   func() time.Time
	mu    sync.Mutex
	byUID *simplelru.LRU[string, grave]
}

// grave is its tenant's: nobody else finds it.
type grave struct {
	config types.NamespacedName
	view   meeting.View
	until  time.Time
}

func newGraves(now func() time.Time) *graves {
	return &graves{now: now, byUID: newLRU[string, grave](maxGraves)}
}

func (g *graves) changed(*v1alpha1.Meeting) {}

func (g *graves) gone(m *v1alpha1.Meeting) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byUID.Add(string(m.UID), grave{config: configOf(m), until: g.now().Add(remember), view: meeting.View{
		UID: string(m.UID), Lineage: meeting.Lineage(m), Room: m.Spec.Room, Ended: true,
		Redirect: meeting.Redirect(m),
	}})
}

func (g *graves) find(config types.NamespacedName, uid string) (meeting.View, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// Who asks does not make it last: the oldest goes first.
	old, ok := g.byUID.Peek(uid)
	if !ok || old.config != config || !g.now().Before(old.until) {
		return meeting.View{}, false
	}
	return old.view, true
}

func newLRU[K comparable, V any](size int) *simplelru.LRU[K, V] {
	lru, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // Its size is not positive.
	}
	return lru
}
