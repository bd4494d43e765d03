// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// remember is how long a page that was offline when its meeting ended can still be told where the others went.
const remember = 10 * time.Minute

// graves remembers Meetings whose objects are gone.
type graves struct {
	now   func() time.Time
	mu    sync.Mutex
	byUID map[string]grave
	swept time.Time
}

// grave is its tenant's: nobody else finds it.
type grave struct {
	config types.NamespacedName
	view   meeting.View
	until  time.Time
}

func newGraves(now func() time.Time) *graves {
	return &graves{now: now, byUID: make(map[string]grave), swept: now()}
}

func (g *graves) changed(*v1alpha1.Meeting) {}

func (g *graves) gone(m *v1alpha1.Meeting) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if now.Sub(g.swept) > time.Minute {
		for uid, old := range g.byUID {
			if now.After(old.until) {
				delete(g.byUID, uid)
			}
		}
		g.swept = now
	}
	g.byUID[string(m.UID)] = grave{config: configOf(m), until: now.Add(remember), view: meeting.View{
		UID: string(m.UID), Lineage: meeting.Lineage(m), Room: m.Spec.Room, Ended: true,
		EndReason: m.Status.EndReason, Redirect: meeting.Redirect(m),
	}}
}

func (g *graves) find(config types.NamespacedName, uid string) (meeting.View, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old, ok := g.byUID[uid]
	if !ok || old.config != config || !g.now().Before(old.until) {
		return meeting.View{}, false
	}
	return old.view, true
}
